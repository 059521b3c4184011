/**
 * Names in a request that decide what it reaches or costs. Some servers take other spellings for the same (`Tools`,
 * `imageUrl`, `toolſ`); such a field would go unjudged, so it may not go at all. Pure.
 */
const JUDGED = {
  request: `
    model messages input contents system systemInstruction system_instruction prompt max_tokens
    max_completion_tokens max_output_tokens n stream stream_options generationConfig
    generation_config service_tier speed background tools tool_choice mcp_servers container
    inference_geo models fallbacks fallback_models context_window_fallbacks context_window_fallback_dict
    content_policy_fallbacks api_base base_url extra_body
    web_search_options search_parameters plugins previous_response_id conversation cachedContent
    cached_content generateContentRequest generate_content_request
  `,
  /** Of what conversations are made of, at any depth: pictures, files and where they are. */
  content: `
    image_url video_url audio_url file_url file_id file_ids file_data fileUri file_uri fileData
    inlineData inline_data input_audio source type url data media_type mimeType mime_type role
    content parts id image video audio file tools
  `,
  tool: 'type tools environment url server_url connector_id container',
  server: 'type url',
  config: 'maxOutputTokens max_output_tokens candidateCount candidate_count',
};

export type Where = keyof typeof JUDGED;

const NAMES = Object.fromEntries(
  Object.entries(JUDGED).map(([where, names]) => [where, Map.groupBy(names.trim().split(/\s+/), plain)]),
) as Record<Where, Map<string, string[]>>;

/** Keys that are fine as they are: conversations have thousands, and few that differ. */
const FINE: Record<Where, Set<string>> = {
  request: new Set(),
  content: new Set(),
  tool: new Set(),
  server: new Set(),
  config: new Set(),
};
const FINE_MAX = 500;
const FINE_CHARS_MAX = 64;

/** The name that another may take `key` for; undefined where it is that name, or none of them. */
export function meantBy(key: string, where: Where): string | undefined {
  const fine = FINE[where];
  if (fine.has(key)) return undefined;
  const right = NAMES[where].get(plain(key));
  if (right !== undefined && !right.includes(key)) return right[0];
  if (fine.size < FINE_MAX && key.length <= FINE_CHARS_MAX) fine.add(key);
  return undefined;
}

/** As the most lenient reader compares names: without case, also of letters such as ſ and K, and without `_`. */
function plain(name: string): string {
  return name.toUpperCase().toLowerCase().replaceAll('_', '');
}

/**
 * Names in a request that decide what it reaches or costs. Some servers take other spellings for the same (`Tools`,
 * `imageUrl`); such a field would go unjudged, so it may not go at all. Pure.
 */
const JUDGED = `
  model messages input contents system systemInstruction system_instruction prompt max_tokens
  max_completion_tokens max_output_tokens n stream stream_options generationConfig
  generation_config service_tier speed background tools tool_choice mcp_servers container
  web_search_options search_parameters plugins previous_response_id conversation cachedContent
  cached_content
`;
/** Of what conversations are made of. */
const JUDGED_IN_CONTENT = `
  image_url video_url audio_url file_url file_id file_ids file_data fileUri file_uri fileData
  inlineData inline_data input_audio source
`;

const IN_REQUEST = spellings(JUDGED);
const IN_CONTENT = spellings(JUDGED_IN_CONTENT);

/** The name that another may take `key` for; undefined where it is that name, or none of them. */
export function meantBy(key: string, where: 'request' | 'content'): string | undefined {
  const names = where === 'request' ? IN_REQUEST : IN_CONTENT;
  const right = names.get(plain(key));
  return right === undefined || right.includes(key) ? undefined : right[0];
}

function spellings(names: string): Map<string, string[]> {
  return Map.groupBy(names.trim().split(/\s+/), plain);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

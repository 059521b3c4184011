/** What a provider says about when to come back. Pure: the time is given. */

/** What is longer is a mistake of whoever sent it. */
const HINT_MS_MAX = 7 * 24 * 3600 * 1000;
/** Of an answer's body, only this much is looked at. */
const BODY_CHARS_MAX = 16 * 1024;

export interface ProviderRefusal {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** How long the provider asks to wait, from now on; undefined where it does not say. */
export function hintMs({ headers, body }: ProviderRefusal, nowMs: number): number | undefined {
  const candidates = [
    () => amount(headers['retry-after-ms'], 1),
    () => amount(headers['retry-after'], 1000),
    () => dateMs(headers['retry-after'], headers.date, nowMs),
    () => resetMs(headers, nowMs),
    () => retryDelayMs(body),
    () => planResetMs(body, nowMs),
  ];
  for (const candidate of candidates) {
    const ms = candidate();
    if (ms !== undefined && ms <= HINT_MS_MAX) return Math.max(0, Math.ceil(ms));
  }
  return undefined;
}

/** The account is out of money or of its plan: no patience helps. */
export function isQuotaSpent({ body }: ProviderRefusal): boolean {
  return /"(insufficient_quota|billing_hard_limit_reached|billing_not_active)"/.test(start(body));
}

function amount(text: string | undefined, unitMs: number): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text) * unitMs;
}

/** By the clock of whoever wrote it, where that is known: ours may be wrong. */
function dateMs(text: string | undefined, serverDate: string | undefined, nowMs: number): number | undefined {
  const at = instantMs(text);
  if (at === undefined) return undefined;
  return at - (instantMs(serverDate) ?? nowMs);
}

/** `Date.parse` alone takes nearly everything for a date, "-5" too. */
function instantMs(text: string | undefined): number | undefined {
  const ms = text !== undefined && /^([A-Z][a-z]+, |\d{4}-\d\d-)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * anthropic-ratelimit-tokens-reset: 2026-11-16T02:06:00Z, x-ratelimit-reset-requests: 1m30s, x-ratelimit-reset:
 * 1763258760000. Only those count of which nothing remains; the last of them to be reset.
 */
function resetMs(headers: Record<string, string>, nowMs: number): number | undefined {
  let latest: number | undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (!/ratelimit/.test(name) || !/-reset(-|$)/.test(name)) continue;
    if (!/^0(\.0+)?$/.test(headers[name.replace('-reset', '-remaining')]?.trim() ?? '')) continue;
    const ms = momentMs(value.trim(), nowMs);
    if (ms !== undefined && ms > (latest ?? -1)) latest = ms;
  }
  return latest;
}

const UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Plain numbers above this are moments and not seconds. */
const EPOCH_S_MIN = 1_000_000_000;

function momentMs(text: string, nowMs: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number < EPOCH_S_MIN) return number * 1000;
    return (number < EPOCH_S_MIN * 1000 ? number * 1000 : number) - nowMs;
  }
  if (/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS_MS[unit!]!, 0);
  }
  const at = instantMs(text);
  return at === undefined ? undefined : at - nowMs;
}

/** Gemini says it in the body alone: `"retryDelay": "34.07s"`. */
function retryDelayMs(body: Buffer): number | undefined {
  const found = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(start(body));
  return found ? Number(found[1]) * 1000 : undefined;
}

/** Of a subscription to ChatGPT that is used up for now: `"resets_in_seconds": 3600`, `"resets_at": 1763258760`. */
function planResetMs(body: Buffer, nowMs: number): number | undefined {
  const found = /"resets_(in_seconds|at)"\s*:\s*(\d+)/.exec(start(body));
  return found ? momentMs(found[2]!, nowMs) : undefined;
}

function start(body: Buffer): string {
  return body.toString('latin1', 0, BODY_CHARS_MAX);
}

/** The agents whose settings `bosun init --mcp` knows. */

export const MCP_CLIENTS = ['claude-code', 'codex', 'opencode', 'gemini'] as const;
export type McpClient = (typeof MCP_CLIENTS)[number];

/**
 * Node's http. To import it as a module reads every one of its exports, and with them loads WebSocket and all of undici:
 * as long again as Node itself takes to start.
 */
export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');

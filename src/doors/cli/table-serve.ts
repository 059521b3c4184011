/** The commands about serving: the HTTP door, who may come in, and to which repositories. Words only. */
import type { Command } from './command.ts';

export const SERVE_COMMANDS: Command[] = [
  {
    name: 'serve',
    group: 'Serve',
    summary: 'serve repositories over HTTP, to programs and pages',
    asks: [],
    arguments: [
      {
        name: 'directories',
        about: 'repositories to serve, this time and from now on; defaults to this one',
        many: true,
        complete: 'file',
      },
    ],
    options: [
      { flags: '--port <port>', about: 'defaults to 7420; 0 for any free port' },
      { flags: '--host <address>', about: 'listen on this address; defaults to 127.0.0.1' },
      {
        flags: '--allow-host <name>',
        about: 'a name under which a proxy reaches it; may be repeated',
        repeat: true,
      },
      { flags: '--socket <path>', about: 'a unix socket of its own, for a second server' },
      { flags: '--tokens-only', about: 'print no token: everybody uses their own' },
      { flags: '--print-unit', about: 'print a systemd unit for this user, and start nothing' },
      { flags: '--json', about: 'print the address, the token and the socket as JSON' },
    ],
    examples: [
      ['serve', 'this repository; prints an address with a token'],
      ['serve ~/work/shop ~/work/site --port 8080', 'several, on another port'],
      ['serve --print-unit > ~/.config/systemd/user/bosun.service', 'as a service of your user'],
    ],
    notes: 'Ctrl-C stops the server, but no run: they continue without it.',
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'token',
    group: 'Serve',
    summary: 'make, list and revoke tokens for bosun serve',
    asks: ['tokens', 'addToken', 'revokeToken'],
    arguments: [
      { name: 'action', about: 'add, list or revoke', required: true, choices: ['add', 'list', 'revoke'] },
      { name: 'name', about: 'what the token is for, such as deploy-bot' },
    ],
    options: [
      {
        flags: '--role <role>',
        needs: ['add'],
        about: 'read, run or admin; defaults to read',
        choices: ['read', 'run', 'admin'],
      },
      {
        flags: '--expires <time>',
        about: 'such as 12h or 30d; defaults to never',
        needs: ['add'],
      },
      { flags: '--json', about: 'print each token as a line of JSON' },
    ],
    examples: [
      ['token add deploy-bot --role run --expires 30d', 'prints the token, this once'],
      ['token list', 'names, roles and expiry dates'],
      ['token revoke deploy-bot', 'it stops working at once'],
    ],
    load: () => import('./commands/token.ts'),
  },
  {
    name: 'repositories',
    group: 'Serve',
    summary: 'list, add and remove the repositories that bosun serve may work on',
    asks: ['repositories', 'allowRepository', 'forgetRepository'],
    arguments: [
      { name: 'action', about: 'list, add or remove', choices: ['list', 'add', 'remove'] },
      { name: 'which', about: 'add: a directory, if not this one; remove: a name', complete: 'file' },
    ],
    options: [{ flags: '--json', about: 'print each repository as a line of JSON' }],
    examples: [
      ['repositories', 'what is served, by name'],
      ['repositories add ~/work/shop', 'also while bosun serve is running'],
      ['repositories remove shop', 'nothing in it changes'],
    ],
    load: () => import('./commands/repositories.ts'),
  },
];

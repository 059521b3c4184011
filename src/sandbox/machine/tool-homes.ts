/**
 * What tools that manage versions need beside their directory on the PATH: their own home, which they would look for
 * below HOME and not find, because HOME is another one inside. Names only the parts that hold programs.
 */
import { statSync } from 'node:fs';
import path from 'node:path';

interface Tool {
  /** Where it is usually installed. */
  root: RegExp;
  /** The directory of its root that is on the PATH. */
  bin: RegExp;
  /** Names its root where that is elsewhere. */
  rootVariable?: string;
  /** What has to be in its root, where the name says little. */
  has?: string[];
  /** Tells it where its home is; not needed by tools that find it by themselves. */
  variable?: string;
  /** Its home, from its root; the root itself where it is not given. */
  home?: string;
  /** What of its home is shown. */
  show: string[];
}

const SHIMS = /^shims$/;
const BIN = /^s?bin$/;

/** They are all made alike. */
function shims(name: string): Tool {
  const variable = `${name.toUpperCase()}_ROOT`;
  const show = ['bin', 'libexec', 'plugins', 'shims', 'version', 'versions', `${name}.d`];
  return { root: new RegExp(`/\\.${name}$`), bin: SHIMS, rootVariable: variable, variable, show };
}

const TOOLS: Tool[] = [
  {
    root: /\/\.cargo$/,
    bin: BIN,
    rootVariable: 'CARGO_HOME',
    variable: 'RUSTUP_HOME',
    home: '../.rustup',
    show: ['settings.toml', 'toolchains', 'update-hashes'],
  },
  ...['pyenv', 'rbenv', 'nodenv', 'goenv'].map(shims),
  {
    root: /\/\.asdf$/,
    bin: SHIMS,
    rootVariable: 'ASDF_DATA_DIR',
    variable: 'ASDF_DATA_DIR',
    // The versions that hold everywhere stand in a file of the user's home.
    show: ['asdf.sh', 'bin', 'installs', 'lib', 'plugins', 'shims', 'VERSION', '../.tool-versions'],
  },
  {
    root: /\/share\/mise$/,
    bin: SHIMS,
    rootVariable: 'MISE_DATA_DIR',
    variable: 'MISE_DATA_DIR',
    show: ['installs', 'plugins', 'shims'],
  },
  {
    root: /\/\.volta$/,
    bin: BIN,
    rootVariable: 'VOLTA_HOME',
    variable: 'VOLTA_HOME',
    show: ['bin', 'layout.v3', 'layout.v4', 'tools'],
  },
  {
    root: /\/\.sdkman\/candidates\/java\/current$/,
    bin: BIN,
    variable: 'JAVA_HOME',
    show: ['.'],
  },
  { root: /\/\.sdkman\/candidates\/[^/]+\/current$/, bin: BIN, show: ['.'] },
  {
    root: /\/\.linuxbrew$/,
    bin: BIN,
    rootVariable: 'HOMEBREW_PREFIX',
    show: ['Cellar', 'etc/ca-certificates', 'etc/openssl@3', 'opt', 'share'],
  },
  { root: /./, bin: BIN, has: ['bin/go', 'VERSION'], show: ['go.env', 'misc', 'pkg', 'src', 'VERSION'] },
  { root: /./, bin: BIN, has: ['bin/java', 'release'], show: ['conf', 'jmods', 'release'] },
  { root: /^\/opt\/./, bin: BIN, show: ['boot', 'conf', 'share'] },
];

interface ToolHome {
  /** Paths that are there. */
  show: string[];
  variables: Record<string, string>;
}

/** Of all tools on the PATH. `engine` is the environment that may say where they are. */
export function toolHomes(searchPath: string, engine: NodeJS.ProcessEnv = process.env): ToolHome[] {
  return searchPath
    .split(':')
    .filter((directory) => path.isAbsolute(directory))
    .flatMap((directory) => TOOLS.flatMap((tool) => homeOf(tool, path.resolve(directory), engine)));
}

/** Without these, tools would look below the HOME inside, where nothing is. Of two, the first on the PATH counts. */
export function toolVariables(searchPath: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const home of toolHomes(searchPath).toReversed()) Object.assign(variables, home.variables);
  return variables;
}

function homeOf(tool: Tool, directory: string, engine: NodeJS.ProcessEnv): ToolHome[] {
  const { root: usual, bin, rootVariable, has = [], variable, home: below, show } = tool;
  const root = path.dirname(directory);
  const named = rootVariable === undefined ? undefined : engine[rootVariable];
  if (!bin.test(path.basename(directory))) return [];
  if (!usual.test(root) && (named === undefined || path.resolve(named) !== root)) return [];
  if (!has.every((name) => isThere(path.join(root, name)))) return [];
  const home = below === undefined ? root : path.resolve(root, engine[variable ?? ''] ?? below);
  if (!isThere(home)) return [];
  return [
    {
      show: show.map((name) => path.join(home, name)).filter(isThere),
      variables: variable === undefined ? {} : { [variable]: home },
    },
  ];
}

/** What the user may not look at is not there for his tools either. */
export function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

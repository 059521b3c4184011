/**
 * A program: a gateway with many doors for `gateway.ts`, in front of the provider whose base URL it is given. It
 * admits everything. Prints "ready"; ends with its stdin.
 */
import path from 'node:path';
import { openGateway } from '../src/gateway/gateway.ts';
import { priceTable } from '../src/gateway/money/prices.ts';
import { liveTransport } from '../src/gateway/live/live.ts';
import { resolveProviders } from '../src/gateway/keys/providers.ts';

const [baseUrl, directory, doors] = process.argv.slice(2) as [string, string, string];
const env = { ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: 'sk-bench-0123456789' };
const config = { providers: { anthropic: { concurrency: Number(doors) } } };
const providers = resolveProviders([{ file: 'bench', config, isUsers: true }], env);
const gateway = openGateway({
  transport: liveTransport({ providers }),
  priceOf: priceTable(),
  providers: { anthropic: 'anthropic' },
});
for (let attempt = 0; attempt < Number(doors); attempt += 1) {
  const caller = {
    run: 'bench-1',
    task: 'bench',
    attempt,
    admit: () => Promise.resolve({ isAdmitted: true as const, settle() {} }),
  };
  await gateway.open(caller, { socketPath: path.join(directory, `${attempt}.sock`) });
}
process.stdout.write('ready\n');
process.stdin.resume().once('end', () => process.exit());

/** Waits of an attempt whose sandbox has no proxy: no service that comes can be reached from there, so none is waited for. */
import { hostOf, isServiceName } from '../contract/services.ts';
import type { CrewTools } from '../crew/tools.ts';

export function withoutServices(wait: CrewTools['wait_for']): CrewTools['wait_for'] {
  return async (input, left) => {
    const { for: kind, name, version } = input;
    if (kind !== 'service' || name === undefined || version !== undefined || !isServiceName(name))
      return wait(input, left);
    const text = `you may not reach ${name}: your task started without a way to services; to give it one, add "${hostOf(name)}" to scope.network`;
    return { over: 'ended', text };
  };
}

/** A file of its own, so that it runs beside as-user.test.ts. */
import { describe } from 'vitest';
import { attackSuite } from './attack.case.ts';

describe.runIf(process.getuid?.() === 0)('where the tests run as root', () => attackSuite('root'));

/** A file of its own, so that it runs beside as-root.test.ts. */
import { attackSuite } from './attack.case.ts';

attackSuite('an ordinary user');

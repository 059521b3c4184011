/** Where bosun itself is installed. */
import path from 'node:path';

export const PACKAGE = path.resolve(import.meta.dirname, '../..');

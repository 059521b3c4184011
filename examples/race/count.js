// Counts comparisons: a score that does not depend on how busy the machine is.
import { sort } from './src/sort.js';

let compared = 0;
const numbers = Array.from({ length: 500 }, (_, n) => (n * 7919) % 500);
sort(numbers, (a, b) => (compared++, a < b));
console.log(`${compared} comparisons: ${compared}`);

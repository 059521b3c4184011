import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sort } from '../src/sort.js';

test('numbers are sorted', () => assert.deepEqual(sort([3, 1, 2]), [1, 2, 3]));

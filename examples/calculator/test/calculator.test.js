import assert from 'node:assert';
import { test } from 'node:test';
import { add, subtract } from '../src/calculator.js';

test('adds', () => assert.equal(add(2, 3), 5));
test('subtracts', () => assert.equal(subtract(5, 3), 2));

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slug } from '../src/slug.js';

test('a title becomes a slug', () => assert.equal(slug('Hello, World!'), 'hello-world'));

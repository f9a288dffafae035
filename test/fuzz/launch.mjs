// Reading of random and mutated files, with many more runs than the unit tests take: node test/fuzz/launch.mjs [runs]
import { properties } from './properties.mjs';

properties('test/unit/launch/robust.test.ts', '100000');

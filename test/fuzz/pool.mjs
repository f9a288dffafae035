// The pool's properties with many more runs than the unit tests take: node test/fuzz/pool.mjs [runs] [name of a property]
import { properties } from './properties.mjs';

properties('test/unit/pool', '10000');

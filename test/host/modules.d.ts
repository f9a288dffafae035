/** All `*.test.ts` of this folder: the build writes the list. */
declare module 'suite:tests';

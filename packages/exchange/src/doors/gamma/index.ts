export type { CatalogueReads } from './directory.ts';
export { type GammaDoorOptions, gammaDoor } from './door.ts';
export { eventSlugOf } from './records.ts';

export { dataDoor } from './door.ts';
export type { DataDoorOptions, DataExchange } from './reads.ts';

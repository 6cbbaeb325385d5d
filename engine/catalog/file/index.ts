/** The catalog file as a document: read with every problem at its place, written, brought up to date. */
export { type Place, readCatalog } from './read.ts'
export { renderCatalog } from './render.ts'
export { catalogFileSchema } from './schema.ts'
export { updateCatalog } from './update.ts'

/** The catalog file as a document: text in, text out, no database. */
export { catalogFileSchema } from './file-schema.ts'
export { readCatalog, readTree } from './read.ts'
export { renderCatalog } from './render.ts'
export { updateCatalog } from './update.ts'

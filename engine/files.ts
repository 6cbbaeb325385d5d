/**
 * What the doors may import for catalog files alone: read, put together, laid out and looked through without an
 * engine, and without loading one.
 */
export {
  type Composed,
  compose,
  needsComposing,
  type OwnedCatalog,
  type Root,
} from './gitops/compose.ts'
export { isFolder, readIncluded, readPath, rootOf, textOf, UnreadablePath } from './gitops/folder.ts'
export type { CatalogText, FilePlace, FileProblem } from './gitops/nodes.ts'

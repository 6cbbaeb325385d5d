/**
 * What the doors may import for catalog files alone: read, put together, laid out and looked through without an
 * engine, and without loading one.
 */
export {
  type Composed,
  type ComposeInput,
  compose,
  needsComposing,
  type Root,
} from './gitops/compose.ts'
export { isFolder, readIncluded, readPath, rootOf, UnreadablePath } from './gitops/folder.ts'
export type { CatalogText } from './gitops/nodes.ts'
export { pathOfProblem } from './gitops/nodes.ts'
export { type PulledFile, patchOf, pullInto, withFiles } from './gitops/pull.ts'

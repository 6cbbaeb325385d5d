/** The commands of `svc catalog` that read files: loaded together, since each chunk of a bundle costs a start by itself. */
export { readPath, UnreadablePath } from '../../../engine/files.ts'
export { composeInput } from '../catalog-input.ts'
export { checkCatalog, printSchema } from './catalog-check.ts'
export { initCatalog } from './catalog-init.ts'
export { formatFiles, lintFiles } from './catalog-lint.ts'
export { applyCatalog, planCatalog } from './catalog-plan.ts'
export { pullCatalog } from './catalog-pull.ts'
export { testCatalog } from './catalog-test.ts'

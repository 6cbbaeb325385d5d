/** In place of a package that merges what is under allOf, in the form kit: no connector's schema has that (test/console/lighter.test.ts). */
const nothing = () => ({}) as Record<string, never>

export const createComparator = nothing
export const createMerger = nothing
export const createIntersector = nothing
export const createDeduplicator = nothing
export const createShallowAllOfMerge = () => (): never => {
  throw new Error(
    'allOf in a schema: take the package that merges it into the build again (console/build/lighter.ts)',
  )
}

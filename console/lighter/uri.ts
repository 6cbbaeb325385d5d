/** In place of a package that reads addresses, in the form kit, which resolves references of schemas with it. */
const resolve = (base: string, reference: string): string =>
  reference.startsWith('#') ? base.replace(/#.*$/, '') + reference : new URL(reference, base).href

export default { resolve, equal: (one: string, other: string): boolean => one === other }

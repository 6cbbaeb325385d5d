/**
 * What is asked of a list: filters as an address or a form has them, in words that were looked at there, without
 * those that are blank.
 */
export const filtered = <Input>(
  filters: Readonly<Record<string, string | number | boolean | undefined>>,
): Input => Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '')) as Input

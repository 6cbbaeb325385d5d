/** Days and instants as the browser's inputs of them have them. */

/** @param format as the form kit shows it: with hours it is an instant, else a day. @returns type and value of the input */
export function dateInput(
  at: Date | null,
  format: string,
): { type: 'date' | 'datetime-local'; value: string } {
  const hasTime = format.includes('H')
  // In the browser's zone, as the inputs are.
  const local = at && new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString()
  return { type: hasTime ? 'datetime-local' : 'date', value: local?.slice(0, hasTime ? 16 : 10) ?? '' }
}

/** @param text as such an input has it */
export const dateOf = (text: string): Date | null =>
  text === '' ? null : new Date(text.includes('T') ? text : `${text}T00:00`)

/** Where a fault stands in the form on the page. */

/** The field of a form that a path names; null: the form does not show it. */
const fieldAt = (form: HTMLElement, path: string): HTMLElement | null =>
  form.querySelector<HTMLElement>(`[data-field="${CSS.escape(path)}"]`) ??
  // Forms made of a schema name their inputs so.
  form.querySelector<HTMLElement>(
    `.config-form [id$="_${CSS.escape(path.replaceAll(/\]?[.[]/g, '_').replace(']', ''))}"]`,
  )

/** The field that a path names, or the nearest that has it; null: the form shows none. */
export function fieldIn(form: HTMLElement, path: string): HTMLElement | null {
  for (let at = path; at !== ''; at = at.replace(/(^|\.)[^.[\]]+$|\[\d+\]$/, '')) {
    const found = fieldAt(form, at)
    if (found) return found
  }
  return null
}

/** A refusal in the words of the form: the label of its field in place of the path that the API has. */
export function inWords(form: HTMLElement, path: string, sentence: string): string {
  const field = fieldAt(form, path)
  const input = field && (field.matches(INPUTS) ? field : field.querySelector(INPUTS))
  const label =
    input?.getAttribute('aria-label') ?? (input as HTMLInputElement | null)?.labels?.[0]?.textContent
  return label && sentence.startsWith(`${path} `)
    ? label.replace(/\s*\*$/, '') + sentence.slice(path.length)
    : sentence
}

const INPUTS = 'input, textarea, select, button, [tabindex]'

/** Puts the focus on a field, or on the first input in it. */
export function focusField(field: HTMLElement): void {
  const input = field.matches(INPUTS)
    ? field
    : (field.querySelector<HTMLElement>('[aria-invalid="true"]') ?? field.querySelector<HTMLElement>(INPUTS))
  input?.focus()
}

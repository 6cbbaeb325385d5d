/** Where a fault stands in the form on the page. */

/** The field of a form that a path names, or the nearest that has it; null: the form shows none. */
export function fieldIn(form: HTMLElement, path: string): HTMLElement | null {
  for (let at = path; at !== ''; at = at.replace(/(^|\.)[^.[\]]+$|\[\d+\]$/, '')) {
    const found =
      form.querySelector<HTMLElement>(`[data-field="${CSS.escape(at)}"]`) ??
      // Forms made of a schema name their inputs so.
      form.querySelector<HTMLElement>(
        `.config-form [id$="_${CSS.escape(at.replaceAll(/\]?[.[]/g, '_').replace(']', ''))}"]`,
      )
    if (found) return found
  }
  return null
}

const INPUTS = 'input, textarea, select, button, [tabindex]'

/** Puts the focus on a field, or on the first input in it. */
export function focusField(field: HTMLElement): void {
  const input = field.matches(INPUTS)
    ? field
    : (field.querySelector<HTMLElement>('[aria-invalid="true"]') ?? field.querySelector<HTMLElement>(INPUTS))
  input?.focus()
}

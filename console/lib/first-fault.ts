/**
 * A form that was sent and is refused leads to its first field that has a fault: in one place for all forms, which only
 * mark their fields (aria-invalid, with the fault as description, so that it is read out with the focus). Fields that
 * the browser itself finds empty get the focus from it.
 */

/** The first field with a fault that can be seen, in the order of the page. */
function firstFault(form: HTMLElement): HTMLElement | undefined {
  return [...form.querySelectorAll<HTMLElement>('[aria-invalid="true"]')].find(
    (field) => field.offsetParent !== null && field.tabIndex >= 0,
  )
}

let stop: () => void = () => undefined

/** Watches a form from when it is sent until somebody does something else: an answer may take its time. */
function watch(form: HTMLElement): void {
  stop()
  let last: HTMLElement | undefined
  const look = (): void => {
    const field = firstFault(form)
    // What was said of the time before may stand until the answer comes, which then says other things.
    if (field && field !== last) field.focus()
    last = field
  }
  const changes = new MutationObserver(look)
  // By then the form has drawn what it finds by itself.
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(() => {
      changes.observe(form, { subtree: true, childList: true, attributeFilter: ['aria-invalid'] })
      look()
    })
  })
  stop = () => {
    cancelAnimationFrame(frame)
    changes.disconnect()
    window.removeEventListener('keydown', stop, true)
    window.removeEventListener('pointerdown', stop, true)
  }
  window.addEventListener('keydown', stop, true)
  window.addEventListener('pointerdown', stop, true)
}

/** Once, when the console begins. */
export function leadToFirstFault(): void {
  document.addEventListener('submit', ({ target }) => target instanceof HTMLElement && watch(target), true)
}

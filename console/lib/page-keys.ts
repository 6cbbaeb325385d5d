/** Keys of a page, such as A to acknowledge: they are the page's own while nothing lies over it. */
import { type HotkeyItem, useHotkeys } from '@mantine/hooks'

const OVER = '[role="dialog"], [role="menu"]'

/** As useHotkeys, and silent while a dialog or a menu is open: a key pressed there is not for what lies behind. */
export function usePageKeys(keys: readonly HotkeyItem[]): void {
  useHotkeys(
    keys.map(([key, act, options]) => [
      key,
      (event) => document.querySelector(OVER) === null && act(event),
      options,
    ]),
  )
}

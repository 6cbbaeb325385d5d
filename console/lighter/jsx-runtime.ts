/**
 * What JSX is compiled to, here and in the kit (console/build/lighter.ts): React's own, but text that turns text around is
 * shown as its escape. A name may come from anybody, and these characters show it, and what stands beside it, in another
 * order than it has: `evil<RLO>moc.elgoog` reads as a name of others. Values stay as they are: this is what is drawn alone.
 */
import * as react from 'react/jsx-runtime'

/** Embeddings, overrides and isolates (Unicode TR 9, 2). Marks, which order what is neutral alone, belong to such texts. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g

const escaped = (turn: string): string => `\\u${turn.charCodeAt(0).toString(16)}`

/** The text as it is drawn. */
export const drawnText = (text: string): string => text.replace(TURNS, escaped)

function drawn(child: unknown): unknown {
  if (typeof child === 'string') return drawnText(child)
  return Array.isArray(child) ? child.map(drawn) : child
}

/** What of an element is read: its text, and what is told of it under the pointer, in an empty field, or aloud. */
const READ = ['children', 'title', 'aria-label', 'placeholder']

/** Components are given what they are given; what elements and fragments hold is drawn. */
const drawing =
  (make: typeof react.jsx): typeof react.jsx =>
  (type, props, key) => {
    if (typeof type !== 'string' && type !== react.Fragment) return make(type, props, key)
    const given = props as Record<string, unknown>
    const shown = { ...given }
    for (const name of READ) if (given[name]) shown[name] = drawn(given[name])
    return make(type, shown, key)
  }

export const Fragment = react.Fragment
export const jsx = drawing(react.jsx)
export const jsxs = drawing(react.jsxs)

/** A name on one line: where its place is too narrow it gives way in its middle, as names that begin alike differ at their ends. */

/** Characters of its end that always stay; shorter names than twice that end as text does. */
const END = 10

export function CutName({ children: name }: { children: string }) {
  const letters = [...name]
  if (letters.length < 2 * END) return <span className="ellipsis">{name}</span>
  return (
    <span className="cut-name">
      <span>{letters.slice(0, -END).join('')}</span>
      <span>{letters.slice(-END).join('')}</span>
    </span>
  )
}

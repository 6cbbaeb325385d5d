/** What differs between two texts, under a title. */
import { Text } from '@mantine/core'
import { type DiffPart, wordDiff } from '../lib/word-diff.ts'

export function TextDiff({
  title,
  from,
  to,
  same = 'As before.',
}: {
  title: string
  from: string
  to: string
  /** What to say where they are alike. */
  same?: string
}) {
  return (
    <div>
      <Text fw={600} size="sm">
        {title}
      </Text>
      {from === to ? (
        <Text size="sm" c="dimmed">
          {same}
        </Text>
      ) : (
        <Text
          size="sm"
          component="div"
          className="word-diff"
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {wordDiff(from, to).map((part, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place.
            <Part key={i} part={part} />
          ))}
        </Text>
      )}
    </div>
  )
}

function Part({ part: { mark, text } }: { part: DiffPart }) {
  if (mark === 'removed') return <del>{text}</del>
  if (mark === 'added') return <ins>{text}</ins>
  return text
}

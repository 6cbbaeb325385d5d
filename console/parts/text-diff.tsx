/** What differs between two texts, under a title. */
import { Text } from '@mantine/core'
import { Suspense } from 'react'
import { lazyFrom } from '../lib/chunks.ts'

const WordDiff = lazyFrom(() => import('./word-diff.tsx'))('WordDiff')

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
          <Suspense fallback={to}>
            <WordDiff from={from} to={to} />
          </Suspense>
        </Text>
      )}
    </div>
  )
}

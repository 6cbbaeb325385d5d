/** Markdown as text. What reads it is loaded with the first text; until then it stands as it was written. */
import { Text } from '@mantine/core'
import { Suspense } from 'react'
import { lazyFrom } from '../lib/chunks.ts'
import type { MarkdownProps } from './markdown-text.tsx'

const Rendered = lazyFrom(() => import('./markdown-text.tsx'))('MarkdownText')

export function MarkdownText(props: MarkdownProps) {
  const plain = (
    <Text component="div" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {props.text}
    </Text>
  )
  return (
    <Suspense fallback={plain}>
      <Rendered {...props} />
    </Suspense>
  )
}

/** The state of a firing, and what sets it apart. */
import { Group } from '@mantine/core'
import type { Firing } from '../../schemas/types.ts'
import { firingMark } from '../lib/firings.ts'
import { Mark } from './mark.tsx'

export function FiringMarks({ firing }: { firing: Firing }) {
  const { tone, word } = firingMark(firing)
  return (
    <Group gap={4} wrap="nowrap">
      <Mark tone={tone}>{word}</Mark>
      {firing.resolves && (
        <Mark tone="good" title="Resolves an earlier firing">
          resolved
        </Mark>
      )}
      {firing.practice && <Mark tone="quiet">practice</Mark>}
    </Group>
  )
}

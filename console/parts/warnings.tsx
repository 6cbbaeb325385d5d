/** What should be known of a change although it is allowed, such as a label that no event has. */
import { Alert, Box, List } from '@mantine/core'
import { useLocation } from 'react-router'
import { warningsIn } from '../lib/use-change.ts'

export function Warnings({ of }: { of: readonly string[] | undefined }) {
  if (!of?.length) return null
  return (
    <Alert
      color="yellow"
      title={of.length === 1 ? 'Worth a look' : `${of.length} things worth a look`}
      role="status"
    >
      <List size="sm" listStyleType="none" spacing={4}>
        {of.map((warning) => (
          <List.Item key={warning} style={{ overflowWrap: 'anywhere' }}>
            {warning}.
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

/** Warnings of the save that led here, which came along with the way to the page (`savedState`). */
export function SavedWarnings() {
  const warnings = warningsIn(useLocation().state)
  if (warnings.length === 0) return null
  return (
    <Box mb="md">
      <Warnings of={warnings} />
    </Box>
  )
}

/**
 * Those of a save that do not stand on the page of the part anyway.
 * @param standing as the part is read: without its name, which a save says before each
 */
export const warningsBeside = (
  saved: readonly string[] | undefined,
  standing: readonly string[] | undefined,
): string[] => (saved ?? []).filter((one) => !standing?.some((other) => one.endsWith(other)))

/**
 * Warnings of a part that hold now, for as long as they do, with those of the save that led here.
 * @param of as the part is read. A save names the part before each, which is said once.
 */
export function StandingWarnings({ of = [] }: { of?: readonly string[] | undefined }) {
  const saved = warningsIn(useLocation().state)
  const warnings = [...of, ...warningsBeside(saved, of)]
  if (warnings.length === 0) return null
  return (
    <Box mb="md">
      <Warnings of={warnings} />
    </Box>
  )
}

/** What a way to another page takes along of an answer, so that its warnings are read there. */
export const savedState = (result: unknown): { state: { warnings: string[] } } => ({
  state: { warnings: warningsIn(result) },
})

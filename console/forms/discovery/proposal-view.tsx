/** What a proposed config would change in the form, and the button that takes it over. */
import { Button, Code, Group, List, Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { fieldText } from '../../lib/fields.ts'
import { Fold } from '../../parts/fold.tsx'
import type { SourceDraft } from '../source-draft.ts'
import type { Found } from './picking.ts'
import { changesOf, isWhole, tablesOf, takenOver } from './proposal.ts'

/** The form beside a discovery. */
export interface Form {
  draft: SourceDraft
  /** What fields are called, by their paths. */
  titles: ReadonlyMap<string, string>
  /** Fields that must be given, but for secrets, which a stored source does not show. */
  required: readonly string[]
  /** The draft with the proposal in it. */
  onTake: (draft: SourceDraft) => void
}

interface ProposalProps extends Form {
  found: Found
  onDrop: () => void
  /** A table is chosen of those that were found. */
  onTable: (name: string) => void
}

/** A discovery whose answer is its proposal. */
export function ProposalView({ found, onDrop, onTable, ...form }: ProposalProps) {
  const { connector: _same, summary, proposed_config: proposed = {}, ...rest } = found
  return (
    <Paper withBorder p="md" radius="md" role="region" aria-label="Proposal">
      <Stack gap="sm">
        <Text fw={600} role="status">
          {typeof summary === 'string' ? summary : 'The upstream answers.'}
        </Text>
        <ProposedChanges {...form} proposed={proposed as Record<string, unknown>} onDrop={onDrop}>
          <Tables names={tablesOf(found)} onChoose={onTable} />
          {Object.keys(rest).length > 0 && (
            <Fold title="What was found">
              <Code block mah={360} style={{ overflow: 'auto' }} tabIndex={0}>
                {JSON.stringify(rest, null, 2)}
              </Code>
            </Fold>
          )}
        </ProposedChanges>
      </Stack>
    </Paper>
  )
}

function Tables({ names, onChoose }: { names: readonly string[]; onChoose: (name: string) => void }) {
  if (names.length === 0) return null
  return (
    <Group gap="xs" mah={240} style={{ overflow: 'auto' }} role="group" aria-label="Tables">
      {names.map((name) => (
        <Button key={name} size="compact-sm" variant="default" onClick={() => onChoose(name)}>
          {name}
        </Button>
      ))}
    </Group>
  )
}

interface ChangesProps extends Form {
  proposed: Record<string, unknown>
  onDrop: () => void
  /** Another one is on its way. */
  isStale?: boolean
  /** A button before "Close". */
  back?: ReactNode
  /** Shown above the buttons. */
  children?: ReactNode
}

export function ProposedChanges(props: ChangesProps) {
  const { draft, titles, required, onTake, proposed, onDrop, isStale = false, back, children } = props
  const changes = changesOf(draft, proposed)
  const next = takenOver(draft, proposed)
  return (
    <>
      {changes.length === 0 ? (
        isWhole(next, required) && <Text size="sm">The form already matches the proposal.</Text>
      ) : (
        <div>
          <Text size="sm">Applying it would set:</Text>
          <List size="sm" spacing={2}>
            {changes.map((change) => (
              <List.Item key={change.path} style={{ overflowWrap: 'anywhere' }}>
                {fieldText({ ...change, path: `/${titles.get(change.path) ?? change.path.slice(1)}` })}
              </List.Item>
            ))}
          </List>
        </div>
      )}
      {next.labels.length > 0 && !next.labels.some(({ primary }) => primary) && (
        <Text size="sm" c="dimmed">
          No label is the entity key. Choose one below.
        </Text>
      )}
      {children}
      <Group gap="xs">
        {changes.length > 0 && (
          <Button size="sm" disabled={isStale} onClick={() => onTake(next)}>
            Use the proposal
          </Button>
        )}
        {back}
        <Button size="sm" variant="default" onClick={onDrop}>
          Close
        </Button>
      </Group>
    </>
  )
}

/** A webhook that received something: what svc makes of it, as rows before and after, to be applied. */
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Radar } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { Source, SourceProposal } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { mappingOf, withMapping } from '../../../lib/mapping.ts'
import { useChange } from '../../../lib/use-change.ts'
import { PresetOffer } from '../preset-choice.tsx'
import { FieldRoles } from './field-roles.tsx'
import { PayloadRows } from './payload-rows.tsx'
import { useProposal, useRows } from './use-mapping.ts'

const ROWS = 5

interface Props {
  source: Source
  /** Shown at once, not at a button. */
  isOpen?: boolean
}

export function DiscoverKept({ source, isOpen = false }: Props) {
  const [open, setOpen] = useState(isOpen)
  const button = useRef<HTMLButtonElement>(null)
  const wasOpen = useRef(isOpen)
  useEffect(() => {
    if (wasOpen.current && !open) button.current?.focus()
    wasOpen.current = open
  }, [open])
  if (open) return <Proposal source={source} onClose={() => setOpen(false)} />
  return (
    <Group gap="sm">
      <Button
        ref={button}
        variant="default"
        leftSection={<Radar size={16} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        Discover
      </Button>
      <Text size="sm" c="dimmed">
        Proposes entity, type, time and text from what this source received.
      </Text>
    </Group>
  )
}

function Proposal({ source, onClose }: { source: Source; onClose: () => void }) {
  const of = { name: source.name }
  const queries = useQueryClient()
  const asked = useProposal(of)
  const [mapping, setMapping] = useState<Record<string, unknown> | null>(null)
  const proposal = asked.data
  const config = mapping ?? (proposal?.proposed_config as Record<string, unknown> | undefined) ?? null
  const tried = useRows(mapping ? of : null, mapping ?? {})
  const rows = (mapping ? tried.data?.rows : proposal?.rows) ?? []
  const close = () => {
    queries.removeQueries({ queryKey: ['mapping'] })
    onClose()
  }
  const apply = useChange(
    () =>
      api.updateSource(
        source.name,
        {
          name: source.name,
          connector: source.connector,
          poll: source.poll,
          config: withMapping(source.config, config ?? {}),
        },
        source.version,
      ),
    {
      said: () => `${source.name} saved. New events follow the mapping`,
      onDone: () => {
        void queries.invalidateQueries({ queryKey: keys.sources })
        close()
      },
    },
  )
  const isSame = config !== null && JSON.stringify(config) === JSON.stringify(mappingOf(source.config))
  return (
    <Paper withBorder p="md" radius="md" role="region" aria-label="Proposal">
      <Stack gap="sm">
        <Text fw={600} role="status">
          {asked.isPending ? 'Reading what was received…' : (proposal?.summary ?? '')}
        </Text>
        {asked.error && (
          <Alert color="red" title="Nothing was discovered" role="alert">
            {asked.error.message}
          </Alert>
        )}
        {config && proposal && (
          <>
            <PresetOffer fit={proposal.preset} used={config.preset} onUse={setMapping} />
            <Compared rows={rows} />
            <FieldRoles
              fields={proposal.payload_fields ?? []}
              proposed={proposal.roles ?? []}
              config={config}
              onChange={setMapping}
            />
            <Text size="sm" c="dimmed">
              Stored events stay as they are; the mapping applies to new events.
            </Text>
          </>
        )}
        {tried.error && (
          <Alert color="red" title="Couldn’t read the payloads" role="alert">
            {tried.error.message}
          </Alert>
        )}
        <Group gap="xs">
          {config && (
            <Button
              size="sm"
              loading={apply.isPending}
              disabled={isSame}
              onClick={() => apply.mutate(undefined)}
            >
              Apply
            </Button>
          )}
          <Button size="sm" variant="default" onClick={close}>
            Close
          </Button>
          {isSame && <Text size="sm">The source already reads its events this way.</Text>}
        </Group>
      </Stack>
    </Paper>
  )
}

function Compared({ rows }: { rows: NonNullable<SourceProposal['rows']> }) {
  const shown = rows.slice(0, ROWS)
  return (
    <>
      <Text fw={600} size="sm">
        Before
      </Text>
      <PayloadRows label="Rows before" rows={shown.flatMap(({ before }) => before)} isBefore />
      <Text fw={600} size="sm">
        After
      </Text>
      <PayloadRows label="Rows after" rows={shown.flatMap(({ after }) => after)} />
    </>
  )
}

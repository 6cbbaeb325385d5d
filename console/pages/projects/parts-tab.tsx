/** The parts of a project by kind, each with its state; what is missing or edited is repaired here. */
import { Anchor, Badge, Box, Button, Group, Stack, Text, Title } from '@mantine/core'
import { Wrench } from 'lucide-react'
import { Link } from 'react-router'
import type { Project, ProjectObject } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { byName } from '../../lib/by-name.ts'
import { KIND_WORDS, partPath } from '../../lib/fields.ts'
import { useChange } from '../../lib/use-change.ts'
import { IngestKeysOnce } from '../../parts/ingest-keys.tsx'
import { NoneMatch, useFirstRows, useNarrowed } from '../../parts/long-list.tsx'
import { useMay } from '../../parts/may.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'

const KINDS = ['source', 'trigger', 'agent', 'mcp_server', 'skill'] as const

export function PartsTab({ project }: { project: Project }) {
  const { rows, field } = useNarrowed(project.objects, 'parts', 'name', ({ name }) => name)
  return (
    <Stack>
      {field}
      {KINDS.map((kind) => {
        const parts = byName(rows.filter((object) => object.kind === kind))
        return parts.length === 0 ? null : (
          <PartsOfKind key={kind} project={project} kind={kind} parts={parts} />
        )
      })}
      {project.objects.length === 0 && <Text c="dimmed">This project has no parts yet.</Text>}
      {project.objects.length > 0 && rows.length === 0 && (
        <NoneMatch of={project.objects.length} many="parts" />
      )}
      <Text size="sm">
        Parts are added, wired and taken out{' '}
        <Anchor component={Link} to="?tab=graph" underline="always">
          where the project is drawn
        </Anchor>
        .
      </Text>
    </Stack>
  )
}

/** Nothing is to be said of it but that it is there. */
const isPlain = ({ missing, customized, state, shared_with }: ProjectObject): boolean =>
  !missing && !customized && state !== 'adopted' && shared_with.length === 0

function PartsOfKind({
  project,
  kind,
  parts,
}: {
  project: Project
  kind: (typeof KINDS)[number]
  parts: readonly ProjectObject[]
}) {
  const may = useMay()
  const { shown, more } = useFirstRows(parts, KIND_WORDS[kind]!.many)
  const repair = useChange((key: string) => declared.repairProject(project.id, key), {
    failed: 'Couldn’t repair the part',
    said: () => 'As planned again',
  })
  return (
    <section aria-label={KIND_WORDS[kind]!.many}>
      <Title order={2} mb={4}>
        {KIND_WORDS[kind]!.many}
      </Title>
      <Rows
        label={KIND_WORDS[kind]!.many}
        columns={[{ name: 'Name', isHead: true }, 'State', { name: 'Repair', isUnnamed: true }]}
      >
        {shown.map((part) => (
          <Row key={part.name}>
            <Cell>
              {part.missing ? (
                part.name
              ) : (
                <RowLink
                  to={
                    kind === 'skill'
                      ? `/skills/${encodeURIComponent(part.name)}?project=${project.id}`
                      : partPath(kind, part.name)
                  }
                >
                  {part.name}
                </RowLink>
              )}
            </Cell>
            <Cell>
              <Group gap={6}>
                {isPlain(part) && <Text size="sm">in place</Text>}
                {part.missing && (
                  <Badge color="red" variant="light" tt="none">
                    missing
                  </Badge>
                )}
                {part.customized && (
                  <Badge color="indigo" variant="light" tt="none">
                    edited by hand
                  </Badge>
                )}
                {part.state === 'adopted' && (
                  <Badge variant="default" tt="none">
                    adopted
                  </Badge>
                )}
                {part.shared_with.length > 0 && (
                  <Badge variant="default" tt="none">
                    shared with {part.shared_with.length} more
                  </Badge>
                )}
              </Group>
            </Cell>
            <Cell>
              {may && (part.missing || part.customized) && (
                <Button
                  size="compact-sm"
                  variant="default"
                  leftSection={<Wrench size={13} aria-hidden />}
                  loading={repair.isPending && repair.variables === `${kind}:${part.key}`}
                  onClick={() => repair.mutate(`${kind}:${part.key}`)}
                  aria-label={`${part.missing ? 'Repair' : 'Reset'} ${part.name}`}
                >
                  {part.missing ? 'Repair' : 'Reset to the plan'}
                </Button>
              )}
            </Cell>
          </Row>
        ))}
      </Rows>
      {more && <Box mt="xs">{more}</Box>}
      {repair.data?.ingest_keys && <IngestKeysOnce keys={repair.data.ingest_keys} />}
    </section>
  )
}

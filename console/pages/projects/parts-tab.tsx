/** The parts of a project by kind, each with its state; more can join. */
import { Badge, Button, Group, Menu, MultiSelect, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Wrench } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Project, ProjectObject } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { KIND_WORDS, partPath } from '../../lib/fields.ts'
import { useChange } from '../../lib/use-change.ts'
import { refOf, useFreeParts } from './custom-project.tsx'

const KINDS = ['source', 'trigger', 'agent', 'mcp_server', 'skill'] as const

export function PartsTab({ project }: { project: Project }) {
  const to = (path: string) => `${path}?project=${encodeURIComponent(project.id)}`
  return (
    <Stack>
      <Group>
        <Menu position="bottom-start">
          <Menu.Target>
            <Button leftSection={<Plus size={16} aria-hidden />}>Add a part</Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component={Link} to={to('/sources/new')}>
              Source
            </Menu.Item>
            <Menu.Item component={Link} to={to('/triggers/new')}>
              Trigger
            </Menu.Item>
            <Menu.Item component={Link} to={to('/agents/new')}>
              Agent
            </Menu.Item>
            <Menu.Item component={Link} to={to('/mcp-servers/new')}>
              MCP server
            </Menu.Item>
            <Menu.Item component={Link} to={to('/skills/new')}>
              Skill
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
      {KINDS.map((kind) => {
        const parts = project.objects.filter((object) => object.kind === kind)
        return parts.length === 0 ? null : (
          <PartsOfKind key={kind} project={project} kind={kind} parts={parts} />
        )
      })}
      {project.objects.length === 0 && (
        <Text c="dimmed">Nothing is in this project yet. Add a source to watch, then what it wakes.</Text>
      )}
      {project.template === 'custom' && <AdoptParts project={project} />}
    </Stack>
  )
}

function PartsOfKind({
  project,
  kind,
  parts,
}: {
  project: Project
  kind: (typeof KINDS)[number]
  parts: readonly ProjectObject[]
}) {
  const repair = useChange((key: string) => declared.repairProject(project.id, key), {
    said: () => 'It is as planned again',
  })
  return (
    <Paper withBorder radius="md" p="sm">
      <Title order={2} mb={4}>
        {KIND_WORDS[kind]!.many}
      </Title>
      <Table.ScrollContainer minWidth={420}>
        <Table verticalSpacing={6}>
          <Table.Tbody>
            {parts.map((part) => (
              <Table.Tr key={part.name}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  {part.missing ? (
                    part.name
                  ) : (
                    <Link
                      to={
                        kind === 'skill'
                          ? `/skills/${encodeURIComponent(part.name)}?project=${project.id}`
                          : partPath(kind, part.name)
                      }
                    >
                      {part.name}
                    </Link>
                  )}
                </Table.Td>
                <Table.Td>
                  <Group gap={6}>
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
                </Table.Td>
                <Table.Td ta="right">
                  {(part.missing || part.customized) && (
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
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

/** Parts that are nobody's join a project put together by hand. */
function AdoptParts({ project }: { project: Project }) {
  const [picked, setPicked] = useState<string[]>([])
  const skills = useQuery({ queryKey: dkeys.skills, queryFn: declared.skills })
  const parts = useFreeParts()
  const others = (skills.data ?? []).filter((skill) => !skill.used_by.some(({ id }) => id === project.id))
  const data = [
    ...parts,
    { group: 'Skills', items: others.map(({ name }) => ({ value: `skill:${name}`, label: name })) },
  ]
  const adopt = useChange(
    async () => {
      for (const value of picked.filter((entry) => entry.startsWith('skill:')))
        await declared.shareSkill(project.id, value.slice('skill:'.length))
      const added = picked.filter((entry) => !entry.startsWith('skill:')).map(refOf)
      if (added.length === 0) return
      const kept = project.objects
        .filter(({ kind, missing }) => kind !== 'skill' && !missing)
        .map(({ kind, name }) => ({ kind, name }))
      await declared.updateProject(project.id, { objects: [...kept, ...added] })
    },
    { said: () => `${picked.length} joined`, onDone: () => setPicked([]) },
  )
  return (
    <Group align="flex-end">
      <MultiSelect
        label="Add parts that are there"
        data={data}
        value={picked}
        onChange={setPicked}
        searchable
        style={{ flex: 1, minWidth: 240, maxWidth: 560 }}
        nothingFoundMessage="No part of that name is free"
      />
      <Button
        variant="default"
        disabled={picked.length === 0}
        loading={adopt.isPending}
        onClick={() => adopt.mutate(undefined)}
      >
        Add
      </Button>
    </Group>
  )
}

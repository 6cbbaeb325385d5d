/** Projects: how each is doing, Default first. */
import { Anchor, Badge, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Project } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { KIND_WORDS } from '../../lib/fields.ts'
import { foundWords } from '../../lib/runs.ts'
import { count } from '../../lib/time.ts'
import { AddLink, LongList } from '../../parts/long-list.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { HealthLine } from './health-line.tsx'

export default function ProjectsPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.projectsDoing,
    queryFn: declared.projectsDoing,
    refetchInterval: LIST_FRESH_MS,
  })
  return (
    <>
      <PageHead title="Projects">
        <AddLink to="/projects/new">New project</AddLink>
      </PageHead>
      {isPending && <LoadingRows />}
      {error && <Failed what="projects" error={error} onRetry={() => void refetch()} />}
      {data &&
        (data.length === 0 ? (
          <Empty title="No projects yet">
            <Text c="dimmed" maw={560}>
              A project holds sources, triggers and agents, and says which trigger wakes which agent. Say what
              you want and get a plan, or start from a template.
            </Text>
          </Empty>
        ) : (
          <LongList
            all={data}
            many="projects"
            by="name, goal or template"
            words={({ name, goal, template_title }) => `${name} ${goal} ${template_title}`}
          >
            {(shown) => (
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                {shown.map((project) => (
                  <ProjectCard key={project.id} project={project} />
                ))}
              </SimpleGrid>
            )}
          </LongList>
        ))}
    </>
  )
}

function ProjectCard({ project }: { project: Project }) {
  const isDraft = project.status === 'draft'
  const { health, today } = project
  return (
    <Paper withBorder p="md" radius="md" component="article">
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Title order={2} style={{ overflowWrap: 'anywhere' }}>
            <Link to={pathOf(project)}>{project.name}</Link>
          </Title>
          <Badge variant="default" tt="none" style={{ flexShrink: 0 }}>
            {project.status === 'draft' ? 'Draft' : project.template_title}
          </Badge>
        </Group>
        {project.goal && project.goal !== project.name && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {project.goal}
          </Text>
        )}
        {health && <HealthLine health={health} />}
        {project.accepts.includes('try') && project.state !== 'done' && (
          <Anchor component={Link} to={`/projects/${project.id}/setup`} size="sm" underline="always">
            Continue setup
          </Anchor>
        )}
        <Text size="xs" c="dimmed">
          {isDraft ? 'Nothing is created yet' : countsText(project.counts)}
          {!isDraft && today && ` · runs today ${count(today.runs)}, findings today ${foundWords(today)}`}
        </Text>
      </Stack>
    </Paper>
  )
}

/** A draft is gone on with, a project is looked at. */
const pathOf = ({ id, status }: Project): string =>
  status === 'draft' ? `/projects/${id}/setup` : `/projects/${id}`

/** "2 sources, 1 trigger". */
export function countsText(counts: Record<string, number>): string {
  const parts = Object.entries(counts)
    .filter(([, n]) => n > 0)
    .map(([kind, n]) => `${n} ${KIND_WORDS[kind]?.one}${n === 1 ? '' : 's'}`)
  return parts.length ? parts.join(', ') : 'Nothing in it yet'
}

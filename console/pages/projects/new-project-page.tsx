/** A new project: from a goal, from the gallery of templates, or put together by hand. */
import { Anchor, Badge, Button, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { Template } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { GoalForm } from '../setup/goal-form.tsx'
import { CustomProject } from './custom-project.tsx'
import { TemplateForm } from './template-form.tsx'

export default function NewProjectPage() {
  const [query] = useSearchParams()
  const chosen = query.get('template')
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.templates,
    queryFn: declared.templates,
  })
  // Whether a model is set decides how tall the form of a goal is: what is below it must not move.
  const capabilities = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const template = data?.find((entry) => entry.key === chosen)
  return (
    <>
      <PageHead title={template ? template.title : chosen === 'custom' ? 'Custom project' : 'New project'}>
        {chosen && (
          <Anchor component={Link} to="/projects/new">
            From a goal, or another template
          </Anchor>
        )}
      </PageHead>
      {!chosen && !capabilities.isPending && (
        <>
          <GoalForm />
          <Title order={2} mt="xl" mb="md">
            Or start from a template
          </Title>
        </>
      )}
      {/* Those of the page go where the form comes, those of the gallery stand where it will: none is pushed down. */}
      {!chosen && capabilities.isPending && <LoadingRows key="page" />}
      {isPending && (chosen || !capabilities.isPending) && <LoadingRows key="gallery" />}
      {error && <Failed what="templates" error={error} onRetry={() => void refetch()} />}
      {data && !chosen && !capabilities.isPending && <Gallery templates={data} />}
      {chosen === 'custom' && <CustomProject />}
      {template && <TemplateForm template={template} />}
    </>
  )
}

function Gallery({ templates }: { templates: readonly Template[] }) {
  const usable = (template: Template) => (template.missing_connectors ?? []).length === 0
  // Made-up data comes after what is of use with one's own.
  const rank = (template: Template) => Number(!usable(template)) * 2 + Number(template.demo)
  const sorted = [...templates].sort((a, b) => rank(a) - rank(b))
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
      {sorted.map((template) => (
        <Paper key={template.key} withBorder p="md" radius="md" component="article">
          <Stack gap="xs" h="100%">
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <Title order={3} fz="lg">
                {template.title}
              </Title>
              {template.demo && (
                <Badge variant="default" tt="none" style={{ flexShrink: 0 }}>
                  Demo data
                </Badge>
              )}
            </Group>
            <Text size="sm" style={{ flex: 1 }}>
              {template.description}
            </Text>
            <Text size="xs" c="dimmed">
              {template.tags.join(' · ')}
            </Text>
            {usable(template) ? (
              <Button
                component={Link}
                to={`/projects/new?template=${template.key}`}
                variant="light"
                aria-label={`Use ${template.title}`}
              >
                Use this template
              </Button>
            ) : (
              <Text size="sm" c="dimmed">
                Needs connectors that are not in this version: {template.missing_connectors?.join(', ')}
              </Text>
            )}
          </Stack>
        </Paper>
      ))}
      <Paper withBorder p="md" radius="md" component="article">
        <Stack gap="xs" h="100%">
          <Title order={3} fz="lg">
            By hand
          </Title>
          <Text size="sm" style={{ flex: 1 }}>
            Start empty, or adopt existing parts.
          </Text>
          <Button component={Link} to="/projects/new?template=custom" variant="light">
            Put one together
          </Button>
        </Stack>
      </Paper>
    </SimpleGrid>
  )
}

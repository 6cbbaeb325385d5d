/** Skills: instructions that agents load when the task matches. */
import { Button, FileButton, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Upload } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { blankFaults, type FaultMark, marksOf } from '../../lib/field-errors.ts'
import { bytesText } from '../../lib/size.ts'
import { useChange } from '../../lib/use-change.ts'
import { useShownFaults } from '../../lib/use-shown-faults.ts'
import { useChoices } from '../../parts/choices.tsx'
import { AddLink, LongList } from '../../parts/long-list.tsx'
import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'

export default function SkillsPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.skills,
    queryFn: declared.skills,
    refetchInterval: LIST_FRESH_MS,
  })
  return (
    <>
      <PageHead title="Skills">
        <Acts>
          <UploadSkill />
        </Acts>
        <AddLink to="/skills/new">Add skill</AddLink>
      </PageHead>
      {isPending && <LoadingRows />}
      {error && <Failed what="skills" error={error} onRetry={() => void refetch()} />}
      {data &&
        (data.length === 0 ? (
          <Empty title="No skills yet">
            <Text c="dimmed" maw={540}>
              A skill is an instruction document: how to roll back, what the error codes mean. Agents of the
              projects that use it load it when the task matches its description.
            </Text>
          </Empty>
        ) : (
          <LongList
            all={data}
            many="skills"
            by="name, description or project"
            words={({ name, description, used_by }) =>
              `${name} ${description} ${used_by.map((project) => project.name).join(' ')}`
            }
          >
            {(shown) => (
              <Rows
                label="Skills"
                columns={[{ name: 'Name', isHead: true }, 'When it helps', 'Used by', 'Size', 'Changed']}
              >
                {shown.map((skill) => (
                  <Row key={skill.name}>
                    <Cell>
                      <RowLink to={`/skills/${skill.name}?project=${skill.used_by[0]?.id ?? ''}`}>
                        {skill.name}
                      </RowLink>
                    </Cell>
                    <Cell>
                      <Text size="sm" lineClamp={2}>
                        {skill.description}
                      </Text>
                    </Cell>
                    <Cell>
                      <Group gap={6}>
                        {skill.used_by.map((project) => (
                          <Link key={project.id} to={`/projects/${project.id}`}>
                            {project.name}
                          </Link>
                        ))}
                      </Group>
                    </Cell>
                    <Cell isWhole>{bytesText(skill.size)}</Cell>
                    <Cell isWhole>
                      <When at={skill.updated_at} />
                    </Cell>
                  </Row>
                ))}
              </Rows>
            )}
          </LongList>
        ))}
    </>
  )
}

/** The project a new skill is made in; Default when there is no other. */
export function ProjectSelect({
  value,
  onChange,
  mark,
}: {
  value: string | null
  onChange: (id: string | null) => void
  mark: FaultMark
}) {
  const projects = useChoices(
    'projects',
    { queryKey: dkeys.projects, queryFn: declared.projects },
    value !== null,
  )
  return (
    <Select
      label="Project"
      description="Other projects can use the skill, too"
      data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
      searchable
      withAsterisk
      {...mark}
      {...projects.field}
    />
  )
}

function UploadSkill() {
  const [file, setFile] = useState<File | null>(null)
  const [project, setProject] = useState<string | null>(null)
  const blank = blankFaults({ project }, ['project'])
  const faults = useShownFaults(blank)
  const upload = useChange(async () => declared.uploadSkill(project!, await file!.text()), {
    said: (skill) =>
      `${skill.name} is ${skill.created ? 'added' : 'replaced, in every project that uses it'}`,
    onDone: () => setFile(null),
    quiet: true,
  })
  return (
    <>
      <FileButton onChange={setFile} accept=".md,text/markdown">
        {(props) => (
          <Button {...props} variant="default" leftSection={<Upload size={16} aria-hidden />}>
            Upload SKILL.md
          </Button>
        )}
      </FileButton>
      <Modal
        opened={file !== null}
        onClose={() => setFile(null)}
        title={`Upload ${file?.name ?? ''}`}
        centered
      >
        <form
          {...faults.form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            faults.showAll()
            if (project) upload.mutate(undefined)
          }}
        >
          <Stack>
            <Text size="sm">A skill of the same name is replaced in every project that uses it.</Text>
            <ProjectSelect value={project} onChange={setProject} mark={marksOf(faults.shown)('project')} />
            <Refusal title="Couldn’t upload the skill" error={upload.error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setFile(null)}>
                Cancel
              </Button>
              <Button type="submit" loading={upload.isPending}>
                Upload
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}

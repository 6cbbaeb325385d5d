/**
 * A project, drawn or listed, as it is now and as a draft would leave it. It is read until somebody
 * begins to edit; whoever may only read sees no editing.
 */
import { Button, Drawer, Group, Paper, Stack, VisuallyHidden } from '@mantine/core'
import { Pencil } from 'lucide-react'
import { type ReactNode, Suspense, useRef } from 'react'
import type { ProjectGraph } from '../../../schemas/types.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { isOutermost } from '../../lib/escape.ts'
import { PlannedSources, plannedSource } from '../../lib/planned-sources.ts'
import { LoadingRows } from '../../parts/states.tsx'
import { operationsOf } from '../draft/draft.ts'
import { findEdge, findNode } from '../draft/ids.ts'
import type { GraphMarks } from '../types.ts'
import { AppliedNote } from './changes/applied-note.tsx'
import { UndoButtons } from './changes/steps.tsx'
import { changesWords, EditBar, ViewSwitch } from './edit-bar.tsx'
import { EditorCanvas } from './editor-canvas.tsx'
import { PanelLoading, SidePanel } from './panel/side-panel.tsx'
import { PasteDialog } from './paste-dialog.tsx'
import { SelectionButtons } from './pasting.tsx'
import { useEditRoom } from './state/use-edit-room.ts'
import { usePositions } from './state/use-positions.ts'
import { type Opened, type Session, useSession } from './state/use-session.ts'
import { VerdictDialog } from './verdict-dialog.tsx'

const draftPanel = lazyFrom(() => import('./changes/draft-panel.tsx'))
const DraftPanel = draftPanel('DraftPanel')
const Following = draftPanel('Following')
const EdgePanel = lazyFrom(() => import('./panel/edge-panel.tsx'))('EdgePanel')
const GonePanel = lazyFrom(() => import('./panel/gone-panel.tsx'))('GonePanel')
const ListEditor = lazyFrom(() => import('./list/list-editor.tsx'))('ListEditor')
const NewPartPanel = lazyFrom(() => import('./panel/new-part-panel.tsx'))('NewPartPanel')
const NodePanel = lazyFrom(() => import('./panel/node-panel.tsx'))('NodePanel')
const PartPalette = lazyFrom(() => import('./panel/part-palette.tsx'))('PartPalette')

interface Props {
  live: ProjectGraph
  marks: GraphMarks
  /** Opens a node's page, while nothing is edited. */
  onVisit: (id: string) => void
  /** Instead of an empty drawing, while nothing is edited. */
  empty: ReactNode
}

export function ProjectEditor({ live, marks, onVisit, empty }: Props) {
  const session = useSession(live, onVisit)
  const { editor, pasting, isEditing, isNarrow } = session
  const isRoom = isEditing && !isNarrow
  useEditRoom(isRoom)
  return (
    <>
      {isRoom ? (
        <Room session={session} marks={marks} />
      ) : (
        <Stack gap="md">
          <TopBar session={session} />
          <Applying session={session} />
          <Frame session={session} marks={marks} empty={empty} />
          {isEditing && (
            <Loaded>
              <Draft session={session} />
            </Loaded>
          )}
        </Stack>
      )}
      <PasteDialog found={pasting.found} onClose={pasting.cancel} onPaste={pasting.paste} />
      <VerdictDialog handing={session.handing} />
      {editor.preview.answer?.renamed.length ? (
        <Suspense>
          <Following editor={editor} />
        </Suspense>
      ) : null}
      <VisuallyHidden role="status" aria-live="polite">
        {editor.said}
      </VisuallyHidden>
    </>
  )
}

function TopBar({ session }: { session: Session }) {
  const { editor, actions, isEditing, selected } = session
  const { draft } = editor
  return (
    <Group justify="space-between">
      <Group gap="xs">
        <ViewSwitch session={session} />
        {isEditing && <UndoButtons editor={editor} />}
        {isEditing && <SelectionButtons actions={actions} selected={selected} pasting={session.pasting} />}
      </Group>
      <Group gap="xs">
        {isEditing && draft && <Button onClick={showDraft}>Review and apply</Button>}
        {session.mayEdit && (
          <Button
            variant={isEditing ? 'default' : 'filled'}
            leftSection={isEditing ? null : <Pencil size={15} aria-hidden />}
            onClick={isEditing ? session.leave : session.begin}
          >
            {isEditing ? 'Close' : draft ? `Edit, ${changesWords(draft.cursor)}` : 'Edit'}
          </Button>
        )}
      </Group>
    </Group>
  )
}

/** At a desk: the bar, the drawing or the lists, and one panel beside them. Escape closes what was opened last. */
function Room({ session, marks }: { session: Session; marks: GraphMarks }) {
  const { opened, setOpened, hasPalette, setPalette } = session
  const cameFrom = useRef<Element | null>(null)
  const closeInner = () => (opened ? setOpened(null) : setPalette(false))
  const panel = panelOf(session) ?? (hasPalette ? <Palette session={session} /> : null)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape bubbles up from what is focused in it.
    <div
      className="editor-room"
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isOutermost(event)) closeInner()
      }}
    >
      <EditBar session={session} />
      <div className="editor-body">
        <div className="editor-main">
          {session.view === 'canvas' ? (
            <EditorCanvas {...session} isRoom marks={marks} onNew={(made, at) => setOpened({ made, at })} />
          ) : (
            <div className="editor-lists">
              <Loaded>
                <ListEditor {...session} />
              </Loaded>
            </div>
          )}
          <div className="editor-applied">
            <Applying session={session} />
          </div>
        </div>
        {panel && (
          // Around it all: a panel takes the focus when what is in it is there.
          <Suspense fallback={<PanelLoading takesFocus={opened !== null} cameFrom={cameFrom} />}>
            <SidePanel
              key={keyOf(opened)}
              label={opened ? 'Edit what is selected' : 'Add parts'}
              isWide={opened !== null && 'review' in opened}
              takesFocus={opened !== null}
              cameFrom={cameFrom}
              onClose={closeInner}
            >
              {panel}
            </SidePanel>
          </Suspense>
        )}
      </div>
    </div>
  )
}

/** Where there is little room: palette, drawing or lists below each other, and panels over the page. */
function Frame({ session, marks, empty }: { session: Session; marks: GraphMarks; empty: ReactNode }) {
  const { editor, isEditing, isNarrow, opened, setOpened } = session
  const close = () => setOpened(null)
  // The draft stands below already.
  const panel = isEditing && opened && !('review' in opened) ? panelOf(session) : null
  return (
    <Stack gap="md">
      {isEditing && (
        <Paper withBorder radius="md" p="sm" className="editor-palette">
          <Loaded>
            <Palette session={session} />
          </Loaded>
        </Paper>
      )}
      <div className="editor-main">
        {editor.live.nodes.length === 0 && !isEditing ? (
          empty
        ) : session.view === 'canvas' ? (
          <EditorCanvas
            {...session}
            isRoom={false}
            marks={marks}
            onNew={(made, at) => {
              session.begin()
              setOpened({ made, at })
            }}
          />
        ) : (
          <Loaded>
            <ListEditor {...session} />
          </Loaded>
        )}
      </div>
      <Drawer opened={panel !== null && isNarrow} onClose={close} position="right" size="100%" title="Edit">
        <Loaded>{panel}</Loaded>
      </Drawer>
    </Stack>
  )
}

const Loaded = ({ children }: { children: ReactNode }) => (
  <Suspense fallback={<LoadingRows rows={3} />}>{children}</Suspense>
)

const Palette = ({ session: { actions, setOpened, onSelect } }: { session: Session }) => (
  <PartPalette
    actions={actions}
    onNew={(made) => setOpened({ made, at: null })}
    onAdded={(id) => onSelect([id])}
  />
)

function Applying({ session }: { session: Session }) {
  const { applied, editor, setApplied } = session
  if (!applied) return null
  return (
    <AppliedNote
      applied={applied}
      onDone={(said) => {
        setApplied(null)
        editor.say(said)
      }}
    />
  )
}

function Draft({ session }: { session: Session }) {
  const { editor } = session
  const positions = usePositions(editor.live)
  return (
    <DraftPanel
      editor={editor}
      tab={session.tab}
      onTab={session.setTab}
      onOpen={session.onOpen}
      onApply={() => session.setApplied(null)}
      onApplied={(result) => {
        session.setApplied(result)
        session.setOpened(null)
        session.begin()
        editor.say('The draft is applied.')
        // Where new nodes were dropped is kept with where others were put.
        if (result.places.length) positions.move({ put: result.places })
      }}
    />
  )
}

const keyOf = (opened: Opened): string =>
  opened === null
    ? 'palette'
    : 'id' in opened
      ? opened.id
      : 'made' in opened
        ? `new:${opened.made}`
        : 'review'

function panelOf(session: Session): ReactNode {
  const panel = panelIn(session)
  const { draft } = session.editor
  const made = (draft ? operationsOf(draft) : []).flatMap(({ op, kind, name, spec }) =>
    op === 'put' && kind === 'source' ? [plannedSource(name, spec)] : [],
  )
  return panel && <PlannedSources.Provider value={made}>{panel}</PlannedSources.Provider>
}

function panelIn(session: Session): ReactNode {
  const { editor, actions, opened, setOpened } = session
  if (opened === null) return null
  if ('review' in opened) return <Draft session={session} />
  if ('made' in opened)
    return (
      <NewPartPanel
        key={keyOf(opened)}
        editor={editor}
        actions={actions}
        kind={opened.made}
        at={opened.at}
        onDone={(id) => setOpened(id === null ? null : { id })}
      />
    )
  const node = findNode(editor.graph, opened.id)
  if (node) return <NodePanel editor={editor} actions={actions} node={node} onOpen={setOpened} />
  const edge = findEdge(editor.graph, opened.id)
  if (edge)
    return <EdgePanel editor={editor} actions={actions} edge={edge} onOpen={(id) => setOpened({ id })} />
  return session.isGone ? (
    <GonePanel
      key={opened.id}
      editor={editor}
      id={opened.id}
      onOpen={(id) => setOpened({ id })}
      onClose={() => setOpened(null)}
    />
  ) : null
}

/** The draft stands below, which may be far below a list. */
function showDraft(): void {
  const draft = document.querySelector<HTMLElement>('[data-draft]')
  draft?.scrollIntoView({ block: 'start' })
  draft?.focus({ preventScroll: true })
}

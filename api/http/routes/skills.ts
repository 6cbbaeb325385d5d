/** Skills (SPEC.md, Skills). A missing or invalid field answers 400 with a plain text that names the rule. */
import type { FastifyInstance } from 'fastify'
import type { SkillUpdate, SkillWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, takes } from '../validate.ts'
import { withEtag, writeBy } from '../write-by.ts'
import { describe } from './route.ts'

type OfProject = { Params: { id: string } }
type Named = { Params: { id: string; name: string } }
const TAG = 'skills'
const MARKDOWN = 'text/markdown; charset=utf-8'

export function skillRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.addContentTypeParser(['text/markdown', 'text/plain'], { parseAs: 'buffer' }, (_request, bytes, done) =>
    done(null, bytes),
  )
  app.get(
    '/api/skills',
    describe(TAG, 'listSkills', 'Every skill with the projects that use it', 200, {
      listOf: 'skill-summary.json',
    }),
    async () => engine.listSkills(),
  )
  app.get<OfProject>(
    '/api/projects/:id/skills',
    describe(TAG, 'listProjectSkills', 'Skills of a project', 200, { listOf: 'project-skill.json' }),
    async ({ params }) => engine.listProjectSkills(params.id),
  )
  app.get<Named>(
    '/api/projects/:id/skills/:name',
    describe(TAG, 'getProjectSkill', 'One skill', 200, 'skill.json'),
    async ({ params }, reply) => withEtag(reply, await engine.getProjectSkill(params.id, params.name)),
  )
  app.get<Named>(
    '/api/projects/:id/skills/:name/download',
    describe(TAG, 'downloadSkill', 'The skill as a SKILL.md file', 200, { media: { 'text/markdown': null } }),
    async ({ params }, reply) =>
      reply
        .type(MARKDOWN)
        .header('content-disposition', 'attachment; filename="SKILL.md"')
        .send(await engine.skillFile(params.id, params.name)),
  )
  app.post<OfProject & { Body: SkillWrite }>(
    '/api/projects/:id/skills',
    describe(TAG, 'createSkill', 'Make a skill in a project', 201, 'skill.json', {
      body: body('request-skill-write.json'),
    }),
    async (request, reply) =>
      withEtag(reply.code(201), await engine.createSkill(request.params.id, request.body, writeBy(request))),
  )
  app.post<OfProject & { Body: Uint8Array | undefined }>(
    '/api/projects/:id/skills/upload',
    describe(TAG, 'uploadSkill', 'Create or replace a skill from a SKILL.md file', 200, 'skill.json', {
      ...takes({ 'text/markdown': null, 'text/plain': null }),
    }),
    async (request, reply) => {
      const file = request.body instanceof Uint8Array ? request.body : new Uint8Array()
      return withEtag(reply, await engine.uploadSkill(request.params.id, file, writeBy(request)))
    },
  )
  app.post<Named>(
    '/api/projects/:id/skills/:name/use',
    describe(TAG, 'useSkill', 'Use a skill another project made', 200, 'skill.json'),
    async (request, reply) =>
      withEtag(reply, await engine.shareSkill(request.params.id, request.params.name, writeBy(request))),
  )
  app.put<Named & { Body: SkillUpdate }>(
    '/api/projects/:id/skills/:name',
    describe(TAG, 'updateSkill', 'Change description, body or both for every project', 200, 'skill.json', {
      body: body('request-skill-update.json'),
    }),
    async (request, reply) =>
      withEtag(
        reply,
        await engine.updateSkill(request.params.id, request.params.name, request.body, writeBy(request)),
      ),
  )
  app.delete<Named>(
    '/api/projects/:id/skills/:name',
    describe(
      TAG,
      'removeSkill',
      'Stop using a skill; the last project deletes it',
      200,
      'skill-removed.json',
    ),
    async (request) => engine.removeSkill(request.params.id, request.params.name, writeBy(request)),
  )
}

import type { runbookRoutes } from '../api/text-routes.ts'
import { actorOf, type Principal } from '../directory/principal.ts'
import type { Platform } from '../platform/platform.ts'
import { playbookId, sendDiagnostics, sendReading } from '../platform/read-runbook.ts'
import { assertSecretReach } from '../platform/secret-reach.ts'
import type { ShelfRunbook } from '../platform/text-shelf.ts'
import { knownTools } from '../platform/tool-catalogue.ts'
import { readText } from '../playbook/read-text.ts'
import type { HandlersOf } from './handler.ts'
import { pageOf } from './page-of.ts'
import { assertMay, sees, visible } from './permit.ts'
import { matches, refuseErrors, showText, tagged } from './text-answers.ts'
import { versionAnswers } from './version-answers.ts'

type Sender = { readonly principal: Principal; readonly project: string | null }

/** Answers about playbooks. What comes from Git is shown like every other, and not changed here. */
export function runbookHandlers(platform: Platform): HandlersOf<keyof typeof runbookRoutes> {
  const { directory, texts, tools } = platform
  const known = knownTools(tools)
  const find = async (asked: Sender, id: string) =>
    visible(asked, 'runbook:read', await texts.runbook(asked.principal.tenant, id))
  const toEdit = async (asked: Sender, id: string) => {
    const runbook = await find(asked, id)
    assertMay(asked.principal, 'runbook:write', runbook.project)
    texts.assertEditable(runbook)
    return runbook
  }
  const card = async (tenant: string, runbook: ShelfRunbook) => {
    const { playbook } = await texts.read(tenant, runbook, runbook.versions.at(-1)!.version)
    return { ...showText(runbook), format: runbook.format, description: playbook?.description ?? '' }
  }
  const whole = async (tenant: string, runbook: ShelfRunbook) => {
    const { version } = runbook.versions.at(-1)!
    const { playbook, diagnostics, text } = await texts.read(tenant, runbook, version)
    // Only a text without errors is published; tools that went away since may have made one of a Markdown text.
    refuseErrors('invalid_playbook', playbook === null ? diagnostics : [])
    const shown = await card(tenant, runbook)
    return { ...shown, text, reading: sendReading(playbook!, known), warnings: sendDiagnostics(diagnostics) }
  }
  const current = async (tenant: string, id: string) =>
    await whole(tenant, (await texts.runbook(tenant, id))!)

  const versions = versionAnswers(texts, find)

  return {
    listRunbooks: async (asked) => {
      const { principal, query } = asked
      const isShown = sees(asked, 'runbook:read')
      const all = (await texts.runbooks(principal.tenant)).filter(
        ({ project, archived }) => isShown(project) && archived === query.archived,
      )
      const cards = await Promise.all(all.map((each) => card(principal.tenant, each)))
      return pageOf(
        cards
          .filter(({ name, description }) => matches(query.search, name, description))
          .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0)),
        query,
      )
    },
    createRunbook: async ({ principal, project, body }) => {
      const { tenant } = principal
      const place = project ?? directory.projects.default(tenant).id
      assertMay(principal, 'runbook:write', place)
      const { playbook, diagnostics } = readText(body.text, body.format, known)
      refuseErrors('invalid_playbook', diagnostics)
      assertSecretReach(playbook!.secrets, tenant)
      const name = body.name ?? playbook!.name
      const { text, format, note = null } = body
      const made = await directory.runbooks.publish(actorOf(principal), place, { name, text, format, note })
      return tagged(await current(tenant, made.id), 201)
    },
    checkRunbook: ({ body }) => {
      const { playbook, diagnostics } = readText(body.text, body.format, known, playbookId('playbook'))
      return {
        diagnostics: sendDiagnostics(diagnostics),
        reading: playbook === null ? null : sendReading(playbook, known),
      }
    },
    getRunbook: async (asked) =>
      tagged(await whole(asked.principal.tenant, await find(asked, asked.params.id))),
    updateRunbook: async (asked) => {
      const { principal, body, match } = asked
      const runbook = await toEdit(asked, asked.params.id)
      const { playbook, diagnostics } = readText(body.text, body.format, known)
      refuseErrors('invalid_playbook', diagnostics)
      assertSecretReach(playbook!.secrets, principal.tenant)
      const { text, format, note = null, name = runbook.name } = body
      await directory.runbooks.revise(actorOf(principal), runbook.id, match, { name, text, format, note })
      return tagged(await current(principal.tenant, runbook.id))
    },
    deleteRunbook: async (asked) => {
      const runbook = await toEdit(asked, asked.params.id)
      await directory.runbooks.remove(actorOf(asked.principal), runbook.id, asked.match)
    },
    duplicateRunbook: async (asked) => {
      const { principal, body } = asked
      const { tenant } = principal
      const runbook = await find(asked, asked.params.id)
      assertMay(principal, 'runbook:write', runbook.project)
      const text = await texts.text(tenant, runbook, runbook.versions.at(-1)!.version)
      const { project, format } = runbook
      assertSecretReach(readText(text, format, known).playbook?.secrets ?? {}, tenant)
      const note = `A copy of ${runbook.name}`.slice(0, 500)
      const made = await directory.runbooks.publish(actorOf(principal), project, {
        name: body.name,
        text,
        format,
        note,
      })
      return tagged(await current(tenant, made.id), 201)
    },
    archiveRunbook: async (asked) => {
      const { id } = await toEdit(asked, asked.params.id)
      await directory.runbooks.archive(actorOf(asked.principal), id, true)
      return await card(asked.principal.tenant, await find(asked, id))
    },
    unarchiveRunbook: async (asked) => {
      const { id } = await toEdit(asked, asked.params.id)
      await directory.runbooks.archive(actorOf(asked.principal), id, false)
      return await card(asked.principal.tenant, await find(asked, id))
    },
    listRunbookVersions: versions.list,
    getRunbookVersion: versions.get,
    diffRunbook: versions.diff,
  }
}

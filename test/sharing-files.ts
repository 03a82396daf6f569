import { globSync, readFileSync } from 'node:fs'

/** Folders whose tests start processes or servers, or time things: each file has a process of its own. */
const apart =
  /^(?:test[/](?:browser|console|e2e|gateway|kill|package)|src[/](?:engine|gateway))[/]|^src[/]app/

/** What changes the process for whoever comes after: modules, clocks, the environment, the working directory, globals. */
const changesProcess =
  /\bvi[.](?:mock|doMock|hoisted|useFakeTimers|spyOn|stub\w+)\b|\bprocess[.](?:env|chdir|on|once|exitCode)\b|child_process|globalThis[.]\w+ =/

/**
 * The test files that leave their process as they found it. They share a few, in which everything they import is loaded once; to load it for every file
 * took a quarter of the time of all tests.
 */
export function sharingFiles(root: string, patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !apart.test(file) && !changesProcess.test(readFileSync(`${root}/${file}`, 'utf8')))
    .toSorted()
}

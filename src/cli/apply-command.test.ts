import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { userInfo, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { digest } from '../shared/digest.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { Library } from '../source/library.ts'
import { readPublished, readPublishedDigest } from '../source/read-published.ts'
import { applyCommand } from './apply-command.ts'

const there = spawnSync('git', ['--version']).status === 0
if (!there) console.warn('skipped: git is not there, so nothing is published from a work tree')

const base = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-apply-')))
const saved = { ...process.env }
afterAll(() => {
  process.env = saved
  rmSync(base, { recursive: true, force: true })
})

const playbook = (id: string, name = 'A') => `id: ${id}\nname: ${name}\nsteps: []\n`
const policy = (id: string) =>
  `id: ${id}\napprovals:\n  - { id: r, tool: refund, message: A lead looks. }\napproval_defaults:\n  required_roles: [Lead]\n`
const program =
  '# Desk\n\n## Main\n\n### Triggers\n- When the program starts\n\n### Steps\n- Say "Hello"\n- End program\n'

let home = ''
let repo = ''
let tree = ''
beforeEach(() => {
  const folder = mkdtempSync(join(base, 't-'))
  home = join(folder, 'home')
  repo = join(folder, 'repo')
  tree = join(repo, 'desk')
  mkdirSync(tree, { recursive: true })
  process.env['LOCKSTEP_HOME'] = home
})

function write(name: string, text: string): void {
  mkdirSync(join(tree, name, '..'), { recursive: true })
  writeFileSync(join(tree, name), text)
}

function git(...args: string[]): string {
  const settings = ['-c', 'user.name=T', '-c', 'user.email=t@t.example', '-c', 'commit.gpgsign=false']
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  return execFileSync('git', ['-C', repo, ...settings, ...args], {
    encoding: 'utf8',
    env,
    stdio: 'pipe',
  }).trim()
}

/** Commits everything, and says which commit that is. */
function commit(): string {
  if (!existsSync(join(repo, '.git'))) git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'c')
  return git('rev-parse', 'HEAD')
}

async function apply(...args: string[]) {
  let [out, err] = ['', '']
  const terminal = {
    out: (text: string) => (out += text),
    err: (text: string) => (err += text),
    colour: false,
  }
  try {
    return { code: (await applyCommand.run([tree, ...args], terminal)) as number | string, out, err }
  } catch (error) {
    if (!LockstepError.isInstance(error)) throw error
    return { code: error.code as number | string, out, err: `${error.message} ${error.hint}` }
  }
}

async function standings(...args: string[]): Promise<string[]> {
  const { code, out, err } = await apply(...args, '--json')
  expect(code, err).not.toBeTypeOf('string')
  const { items } = JSON.parse(out) as { items: { standing: string; kind: string; name: string }[] }
  return items.map(({ standing, kind, name }) => `${standing} ${kind} ${name}`)
}

function index(): string {
  const path = join(home, 'library', 'published.jsonl')
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

describe.skipIf(!there)('lockstep apply', () => {
  it('publishes playbooks and policies with their commit, and the same again is unchanged', async () => {
    write('a.yaml', playbook('a'))
    write('sub/desk.md', program)
    write('rules.yaml', policy('money'))
    write('cases.yaml', 'cases: []\n')
    write('README.md', '# Just words\n\nNothing to do.\n')
    const id = commit()
    expect((await apply('--dry-run')).out).toContain(
      `DRY RUN, nothing is published. It would be 3 new, 0 changed, from commit ${id}`,
    )
    expect(existsSync(home)).toBe(false)
    const all = ['new playbook a', 'new playbook desk', 'new policy money']
    expect(await standings()).toEqual(all)
    expect(readPublished('playbook', 'a', home)).toMatchObject({
      version: {
        commit: id,
        path: 'desk/a.yaml',
        root: repo,
        by: userInfo().username,
        digest: digest(playbook('a')),
      },
      text: playbook('a'),
    })
    expect(readPublished('policy', 'a', home)).toBe(null)
    const before = index()
    expect(await standings()).toEqual(all.map((line) => line.replace('new', 'unchanged')))
    expect(index()).toBe(before)
    expect((await apply('--status')).code).toBe(0)
  })

  it('shows drift: new, changed and gone; keeps what was published; and only adds to the index', async () => {
    write('a.yaml', playbook('a'))
    write('b.yaml', playbook('b'))
    const first = commit()
    await apply()
    const before = index()
    write('a.yaml', playbook('a', 'Another'))
    rmSync(join(tree, 'b.yaml'))
    write('c.yaml', playbook('c'))
    const drift = ['changed playbook a', 'gone playbook b', 'new playbook c']
    const status = await apply('--status')
    expect([status.code, status.out]).toEqual([
      1,
      expect.stringContaining('Drift: 1 new, 1 changed, 1 gone; 0 unchanged.'),
    ])
    expect(status.out).toContain(`(published: ${first.slice(0, 12)}, `)
    commit()
    expect(await standings('--dry-run')).toEqual(drift)
    expect(index()).toBe(before)
    expect(await standings()).toEqual(drift)
    expect(index().startsWith(before)).toBe(true)
    expect(readPublished('playbook', 'a', home)?.text).toContain('Another')
    expect(readPublishedDigest(digest(playbook('a')), home)).toMatchObject({
      text: playbook('a'),
      version: { commit: first },
    })
    expect(readPublished('playbook', 'b', home)?.text).toBe(playbook('b'))
    expect(readPublishedDigest(digest('never'), home)).toBe(null)
  })

  it('publishes nothing when one file has an error, and shows it with its place', async () => {
    write('a.yaml', playbook('a'))
    write('rules.yaml', policy('money').replace('tool:', 'tol:'))
    commit()
    const { code, err } = await apply()
    expect(code).toBe(1)
    expect(err).toContain('rules.yaml:3:')
    expect(err).toContain('Nothing was published')
    expect(existsSync(home)).toBe(false)
    write('rules.yaml', policy('money'))
    write('a.yaml', 'id: a\nname: A\nstepz: []\n')
    commit()
    expect((await apply()).err).toContain('a.yaml:3:1 error unknown_key')
    expect(existsSync(home)).toBe(false)
  })

  it('refuses what no commit has, in every form, unless it is allowed and recorded', async () => {
    write('a.yaml', playbook('a'))
    const id = commit()
    const states: Record<string, () => void> = {
      'desk/a.yaml': () => write('a.yaml', playbook('a', 'Changed')),
      'desk/ü b.yaml': () => write('ü b.yaml', playbook('b')),
      'desk/ignored.yaml': () => {
        writeFileSync(join(repo, '.git', 'info', 'exclude'), 'ignored.yaml\n')
        write('ignored.yaml', playbook('c'))
      },
    }
    for (const [path, change] of Object.entries(states)) {
      change()
      const { code, err } = await apply()
      expect([code, err]).toEqual(['dirty_tree', expect.stringContaining(path)])
      git('add', '-A')
      if (path !== 'desk/ignored.yaml') git('commit', '-qm', 'c')
    }
    expect(index()).toBe('')
    expect((await apply('--allow-dirty')).code).toBe(0)
    const head = git('rev-parse', 'HEAD')
    expect(head).not.toBe(id)
    expect(readPublished('playbook', 'c', home)?.version.commit).toBe(`${head}+dirty`)
  })

  it('does not mind changes outside the directory', async () => {
    write('a.yaml', playbook('a'))
    const id = commit()
    writeFileSync(join(repo, 'other.txt'), 'x')
    expect((await apply()).code).toBe(0)
    expect(readPublished('playbook', 'a', home)?.version.commit).toBe(id)
  })

  it('refuses a directory outside Git and one without a commit, unless it is told to', async () => {
    write('a.yaml', playbook('a'))
    expect(await apply()).toMatchObject({
      code: 'git_unavailable',
      err: expect.stringContaining('is in no Git work tree'),
    })
    git('init', '-q')
    expect(await apply()).toMatchObject({
      code: 'git_unavailable',
      err: expect.stringContaining('without a commit'),
    })
    expect(index()).toBe('')
    expect((await apply('--no-git')).out).toContain('Published 1 new, 0 changed, without a commit')
    expect(readPublished('playbook', 'a', home)?.version).toMatchObject({
      commit: null,
      root: tree,
      path: 'a.yaml',
    })
  })

  it('says so where there is no Git', async () => {
    write('a.yaml', playbook('a'))
    const { PATH } = process.env
    process.env['PATH'] = tree
    const ended = await apply()
    process.env['PATH'] = PATH
    expect(ended).toMatchObject({ code: 'git_unavailable', err: expect.stringContaining('Git is not there') })
  })

  it('asks about the directory, whichever repository a hook is in, and runs no program for it', async () => {
    write('a.yaml', playbook('a'))
    const id = commit()
    const mark = join(repo, '..', 'mark')
    writeFileSync(join(repo, '..', 'monitor'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    git('config', 'core.fsmonitor', join(repo, '..', 'monitor'))
    process.env['GIT_DIR'] = join(base, 'nowhere')
    const ended = await apply()
    delete process.env['GIT_DIR']
    expect([ended.code, existsSync(mark)]).toEqual([0, false])
    expect(readPublished('playbook', 'a', home)?.version.commit).toBe(id)
  })

  it('names both files of one name', async () => {
    write('a.yaml', playbook('same'))
    write('sub/b.yaml', playbook('same'))
    write('rules.yaml', policy('same'))
    commit()
    const { code, err } = await apply()
    expect(code).toBe(1)
    expect(err).toContain(
      `two files are the playbook \`same\`: ${join(tree, 'a.yaml')} and ${join(tree, 'sub/b.yaml')}`,
    )
    expect(err.match(/duplicate_name/g)).toHaveLength(1)
    expect(index()).toBe('')
  })

  it('follows no link, and reads no lock file through one that leaves the directory', async () => {
    const outside = join(repo, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'x.yaml'), playbook('x'))
    write('a.yaml', playbook('a'))
    symlinkSync(outside, join(tree, 'folder'))
    symlinkSync(join(outside, 'x.yaml'), join(tree, 'x.yaml'))
    commit()
    expect(await standings()).toEqual(['new playbook a'])
    write('desk.md', program)
    writeFileSync(join(outside, 'lock'), 'version: 1\nsteps: []\n')
    symlinkSync(join(outside, 'lock'), join(tree, 'desk.md.lock.yaml'))
    commit()
    const { code, err } = await apply()
    expect([code, err]).toEqual([1, expect.stringContaining('desk.md.lock.yaml leads out of')])
  })

  it('takes what a Markdown playbook imports and its lock file for part of the version', async () => {
    const importing = program.replace('- Say "Hello"', '!import ./parts/hello.txt')
    write('other.md', importing)
    write('parts/hello.txt', '- Say "Hello"\n')
    write('desk.md', program)
    commit()
    await apply()
    expect(readPublished('playbook', 'other', home)).toMatchObject({
      text: importing,
      parts: new Map([['parts/hello.txt', '- Say "Hello"\n']]),
    })
    write('parts/hello.txt', '- Say "Bye"\n')
    write('desk.md.lock.yaml', 'version: 1\nsteps: []\n')
    commit()
    expect(await standings()).toEqual(['changed playbook desk', 'changed playbook other'])
    const now = readPublished('playbook', 'desk', home)!
    expect(Object.fromEntries(now.parts)).toEqual({ 'desk.md.lock.yaml': 'version: 1\nsteps: []\n' })
    expect(now.version.digest).not.toBe(digest(program))
    expect(readPublishedDigest(now.version.digest, home)?.parts.size).toBe(1)
    expect(readPublishedDigest(digest(program), home)?.parts.size).toBe(0)
  })

  it('P1: uses no text that is not the one that was published, says so, and writes it again', async () => {
    write('a.yaml', playbook('a'))
    commit()
    await apply()
    const texts = join(home, 'library', 'texts')
    const file = join(texts, readdirSync(texts)[0]!)
    for (const damage of [() => appendFileSync(file, '#'), () => rmSync(file)]) {
      damage()
      expect(() => readPublished('playbook', 'a', home)).toThrow(
        expect.objectContaining({ code: 'library_unreadable' }),
      )
      expect((await apply('--status')).code).toBe('library_unreadable')
      expect(await standings()).toEqual(['unchanged playbook a'])
      expect(readPublished('playbook', 'a', home)?.text).toBe(playbook('a'))
    }
  })

  it('P2: adds nothing to an index that was cut off or edited', async () => {
    write('a.yaml', playbook('a'))
    commit()
    await apply()
    const whole = index()
    const path = join(home, 'library', 'published.jsonl')
    write('b.yaml', playbook('b'))
    commit()
    const other = `sha256:${'0'.repeat(64)}`
    for (const text of [
      whole.slice(0, -1),
      whole.slice(0, 40),
      whole.replace(/"text":"[^"]*"/, `"text":"${other}"`),
      `${whole}{}\n`,
    ]) {
      writeFileSync(path, text)
      expect(await apply()).toMatchObject({ code: 'library_unreadable' })
      expect(index()).toBe(text)
    }
    writeFileSync(path, whole)
    expect(await standings()).toEqual(['unchanged playbook a', 'new playbook b'])
  })

  it('P3: two that publish at once publish each version once', async () => {
    for (const id of ['a', 'b', 'c']) write(`${id}.yaml`, playbook(id))
    commit()
    const ended = await Promise.all([apply(), apply(), apply()])
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(new Library(home).versions().map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('lets trees that publish to one library alone', async () => {
    write('one/a.yaml', playbook('a'))
    write('two/b.yaml', playbook('b'))
    commit()
    await apply()
    const whole = tree
    tree = join(whole, 'one')
    expect(await standings('--status')).toEqual(['unchanged playbook a'])
    // Under the same path, in another work tree.
    tree = join(repo, '..', 'elsewhere')
    write('desk/x.yaml', playbook('x'))
    expect(await standings('--no-git')).toEqual(['new playbook x'])
    tree = whole
    expect(await standings('--status')).toEqual(['unchanged playbook a', 'unchanged playbook b'])
  })

  it('is told what is wrong with how it is called', async () => {
    write('a.yaml', playbook('a'))
    for (const args of [['--dry-run', '--status'], ['--no-git', '--allow-dirty'], ['another'], ['--force']])
      expect((await apply(...args)).code).toBe('usage')
    tree = join(tree, 'a.yaml')
    expect((await apply()).code).toBe('usage')
    tree = repo
    rmSync(join(repo, 'desk'), { recursive: true })
    git('init', '-q')
    git('commit', '-qm', 'c', '--allow-empty')
    expect(await apply()).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no playbook and no policy'),
    })
  })
})

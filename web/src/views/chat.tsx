import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Cited, Confirm, Dialog, Empty, Failure } from "../components/basic";
import { Icon } from "../components/icon";
import { Recalled } from "../components/recalled";
import { CorrectDialog } from "../components/thought-dialogs";
import { ThoughtLink } from "../components/thought-panel";
import { get, isAbort, memoryChanged, memoryVersion } from "../lib/api";
import { correct, forgetMemories, randomKey, remember } from "../lib/changes";
import { type Citation, citations, withoutCitations } from "../lib/citations";
import {
  checkAnswer,
  explainNoAnswer,
  keepAnswer,
  learnedFrom,
  listModels,
  loadTurns,
  type MemoryMode,
  type Message,
  messagesOf,
  storedTurn,
  streamAnswer,
} from "../lib/chat";
import { explainError } from "../lib/errors";
import { formatDay, formatTime, reasonText, saidText, t, term } from "../lib/i18n";
import { useLoad } from "../lib/hooks";
import { notify } from "../lib/notices";
import { href, navigate, route } from "../lib/router";
import { distinctConstraints } from "../lib/constraints";
import { can, session as account } from "../lib/session";
import { readSetting, useStore, writeSetting } from "../lib/store";
import type { Page, Thought, Turn } from "../lib/types";

function newSession(): string {
  const now = new Date().toISOString();
  return `web-${now.slice(0, 10)}-${now.slice(11, 13)}${now.slice(14, 16)}-${randomKey().slice(0, 4)}`;
}

const WEB_SESSION = /^web-(\d{4}-\d\d-\d\d)(?:-(\d\d)(\d\d))?-[0-9a-f]{4}$/;

/** The name of a conversation on the screen: one that began on this page is named by when it began. */
function sessionLabel(name: string): string {
  const [, day, hour, minute] = WEB_SESSION.exec(name) ?? [];
  if (!day) return name;
  return hour ? formatTime(`${day}T${hour}:${minute}:00Z`) : `${formatDay(day)} (${name.slice(-4)})`;
}

const NEAR_END_PX = 160;

/** What is loaded for a complete answer; the answer stays as it is if that fails. */
async function orNotice<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    notify(explainError(error), "error");
    return null;
  }
}

export function ChatView() {
  const { path, params } = useStore(route);
  const name = path[0] || readSetting("session") || newSession();
  useEffect(() => writeSetting("session", name), [name]);
  return <Conversation key={name} name={name} highlighted={Number(params.get("turn")) || null} />;
}

function Conversation({ name, highlighted }: { name: string; highlighted: number | null }) {
  const version = useStore(memoryVersion);
  const [messages, setMessages] = useState<Message[]>([]);
  const [text, setText] = useState("");
  const [mode, setMode] = useState<MemoryMode>("on");
  const [busy, setBusy] = useState<AbortController | null>(null);
  const [correcting, setCorrecting] = useState<Message | null>(null);
  const [forgetting, setForgetting] = useState<Message | null>(null);
  const [model, setModel] = useState(readSetting("model") ?? "");
  const models = useLoad((signal) => (account.get()?.upstream ? listModels(signal) : Promise.resolve([])), []);
  const list = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const stored = useLoad((signal) => loadTurns(name, signal), [name]);
  const instructions = useLoad((signal) => get<Page<Thought>>("/v1/memory/instructions", {}, signal), [version]);

  useEffect(() => {
    // A message that was sent while the stored ones were loading stays.
    if (stored.data) setMessages((former) => [...messagesOf(stored.data!), ...former.filter((message) => !message.turn)]);
  }, [stored.data]);
  useEffect(() => {
    const target = highlighted && list.current?.querySelector(`[data-turn="${highlighted}"]`);
    if (target) target.scrollIntoView({ block: "center" });
    else if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [messages.length, messages.at(-1)?.text, highlighted]);
  useEffect(() => {
    // What is added below earlier messages later (checks, what was kept) does not push the newest one out of view.
    const element = list.current;
    if (!element || highlighted) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (below < NEAR_END_PX) element.scrollTop = element.scrollHeight;
  }, [messages]);
  useEffect(() => () => busy?.abort(), [busy]);

  const change = (key: string, update: Partial<Message>) =>
    setMessages((former) => former.map((message) => (message.key === key ? { ...message, ...update } : message)));

  /** Mark a message as no longer recalled; the question and the answer of a turn go together. */
  const retire = (message: Message, retired: Message["retired"]) => {
    const whole = memoriesOf(message).some(({ kind, id }) => kind === "turn" && id === message.turn?.id);
    const affected = (other: Message) => other.key === message.key || (whole && other.turn?.id === message.turn?.id);
    setMessages((former) => former.map((other) => (affected(other) ? { ...other, retired } : other)));
  };
  const forget = (message: Message) => {
    retire(message, "forgotten");
    void forgetMemories(memoriesOf(message), () => retire(message, undefined));
  };
  const openTurn = async (id: number) => {
    const turn = await orNotice(get<Turn>(`/v1/memory/turns/${id}`));
    if (turn) navigate("chat", [turn.session], { turn: String(id) });
  };

  const ask = async () => {
    const words = text.trim();
    if (!words || busy) return;
    const controller = new AbortController();
    const [question, answer] = [randomKey(), randomKey()];
    const history = messages;
    setText("");
    setBusy(controller);
    const base = { turn: null, recalled: [], check: null };
    setMessages([
      ...history,
      { ...base, key: question, role: "user", text: words },
      { ...base, key: answer, role: "assistant", text: "", streaming: true },
    ]);
    let reply = "";
    try {
      const recalled = await streamAnswer({
        model: models.data?.includes(model) ? model : ((await listModels())[0] ?? "thinkback"),
        session: name,
        mode,
        history,
        text: words,
        signal: controller.signal,
        onText: (whole) => change(answer, { text: (reply = whole) }),
      });
      change(answer, { streaming: false, recalled });
      const turn = mode === "on" ? await orNotice(storedTurn(name, words, history)) : null;
      change(question, { turn });
      change(answer, { turn });
      if (turn) {
        keepAnswer(turn, reply);
        void learnedFrom(turn).then(
          (learned) => change(question, { learned }),
          () => undefined,
        );
      }
      if (mode !== "off" && reply) change(answer, { check: await orNotice(checkAnswer(words, reply, name)) });
      memoryChanged();
    } catch (error) {
      if (isAbort(error)) change(answer, { streaming: false });
      else {
        change(answer, { streaming: false, failed: explainNoAnswer(error) });
        setText((typed) => typed || words);
      }
    } finally {
      setBusy(null);
      input.current?.focus();
    }
  };

  return (
    <div class="chat-layout">
      <ChatHead
        name={name}
        mode={mode}
        setMode={setMode}
        instructions={instructions.data?.items ?? []}
        model={model}
        models={models.data ?? []}
        setModel={(value) => {
          writeSetting("model", value);
          setModel(value);
        }}
      />
      <div class="messages" ref={list} role="log" aria-label={t("chat.log")} tabIndex={0}>
        {stored.error ? <Failure error={stored.error} retry={stored.reload} /> : null}
        {!stored.loading && messages.length === 0 && (
          <Empty icon="chat" title={t("chat.empty")}>
            <p>{t("chat.emptyHint")}</p>
            <div class="actions centered">
              {(["chat.example1", "chat.example2", "chat.example3"] as const).map((key) => (
                <Button
                  key={key}
                  onClick={() => {
                    setText(t(key));
                    input.current?.focus();
                  }}
                >
                  {t(key)}
                </Button>
              ))}
            </div>
            {account.get()?.model === null && !account.get()?.upstream && <p class="small">{t("chat.noModel")}</p>}
          </Empty>
        )}
        {messages.some((message) => message.notStored) && <p class="small muted session-note">{t("chat.notStored")}</p>}
        {messages.map((message, index) => (
          <Bubble
            key={message.key}
            message={message}
            question={messages[index - 1]?.text ?? ""}
            highlighted={message.turn !== null && message.turn.id === highlighted}
            onForget={() => (memoriesOf(message).length > 1 ? setForgetting(message) : forget(message))}
            onCorrect={() => setCorrecting(message)}
            onRemember={() => void remember(withoutCitations(message.text), name)}
            onTurn={(turn) => void openTurn(turn)}
          />
        ))}
      </div>
      <div class="composer">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void ask();
          }}
        >
          <textarea
            ref={input}
            rows={Math.min(8, text.split("\n").length)}
            aria-label={t("chat.message")}
            placeholder={t("chat.message")}
            value={text}
            disabled={!can("write")}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
                event.preventDefault();
                void ask();
              }
            }}
          />
          {busy ? (
            <Button icon="close" label={t("chat.stop")} onClick={() => busy.abort()} />
          ) : (
            <Button icon="send" tone="primary" type="submit" label={t("chat.send")} disabled={!text.trim()} />
          )}
        </form>
      </div>
      {forgetting && (
        <Confirm
          title={t("chat.forgetThis")}
          text={t("chat.forgetAll", { count: memoriesOf(forgetting).length })}
          action={t("action.forget")}
          onClose={() => setForgetting(null)}
          onConfirm={() => forget(forgetting)}
        />
      )}
      {correcting && (
        <CorrectDialog
          text={withoutCitations(correcting.text)}
          onClose={() => setCorrecting(null)}
          onSave={async (words) => {
            const { kind, id } = wrongMemory(correcting);
            const turn = await correct(`${kind}s`, id, words, name);
            if (!turn) return false;
            retire(correcting, "corrected");
            setMessages((former) => [...former, ...messagesOf([turn])]);
            setCorrecting(null);
            return true;
          }}
        />
      )}
    </div>
  );
}

/** What "forget this" and "that's wrong" mean: the memories that an answer cites, else the message itself. */
function memoriesOf({ role, text, turn }: Message): Citation[] {
  const cited = role === "assistant" ? citations(text) : [];
  return cited.length || !turn ? cited : [{ kind: "turn", id: turn.id }];
}

/** What a correction replaces: the only memory that an answer cites, else the message itself. */
function wrongMemory(message: Message): Citation {
  const memories = memoriesOf(message);
  return memories.length > 1 && message.turn ? { kind: "turn", id: message.turn.id } : memories[0]!;
}

interface HeadProps {
  name: string;
  mode: MemoryMode;
  setMode: (mode: MemoryMode) => void;
  instructions: Thought[];
  model: string;
  models: string[];
  setModel: (model: string) => void;
}

function ChatHead({ name, mode, setMode, instructions, model, models, setModel }: HeadProps) {
  const [open, setOpen] = useState(false);
  const version = useStore(memoryVersion);
  const sessions = useLoad((signal) => get<Page<string>>("/v1/memory/sessions", { limit: 1000 }, signal), [version]);
  const names = sessions.data?.items ?? [];
  return (
    <header class="chat-head">
      <h1>{t("nav.chat")}</h1>
      <div class="actions">
        <select aria-label={t("chat.session")} value={name} onChange={(event) => navigate("chat", [event.currentTarget.value])}>
          {!names.includes(name) && <option value={name}>{t("chat.newSession", { name: sessionLabel(name) })}</option>}
          {names.map((item) => (
            <option key={item} value={item}>
              {sessionLabel(item)}
            </option>
          ))}
        </select>
        <Button icon="plus" label={t("chat.new")} onClick={() => navigate("chat", [newSession()])} />
        <select aria-label={t("chat.memory")} value={mode} onChange={(event) => setMode(event.currentTarget.value as MemoryMode)}>
          <option value="on">{t("chat.memoryOn")}</option>
          <option value="read">{t("chat.memoryRead")}</option>
          <option value="off">{t("chat.memoryOff")}</option>
        </select>
        {models.length > 1 && (
          <select
            aria-label={t("chat.model")}
            value={models.includes(model) ? model : models[0]}
            onChange={(event) => setModel(event.currentTarget.value)}
          >
            {models.map((item) => (
              <option key={item} value={item}>
                {item}
              </option>
            ))}
          </select>
        )}
        <Button onClick={() => setOpen(true)}>{t("chat.instructions", { count: instructions.length })}</Button>
      </div>
      {open && (
        <Dialog title={t("chat.instructionsTitle")} onClose={() => setOpen(false)}>
          {instructions.length === 0 && <p class="muted">{t("chat.noInstructions")}</p>}
          <ul class="plain-list">
            {instructions.map((thought) => (
              <li key={thought.id} onClick={() => setOpen(false)}>
                <ThoughtLink thought={thought} />
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </header>
  );
}

interface BubbleProps {
  message: Message;
  question: string;
  highlighted: boolean;
  onForget: () => void;
  onCorrect: () => void;
  onRemember: () => void;
  onTurn: (turn: number) => void;
}

function Bubble({ message, question, highlighted, onForget, onCorrect, onRemember, onTurn }: BubbleProps) {
  const { role, text, turn, check, failed, retired } = message;
  const constraints = distinctConstraints(check?.constraints ?? []);
  const cited = role === "assistant" ? citations(text).map(({ kind, id }) => `${kind}:${id}`) : [];
  const writable = can("write") && !message.streaming && !failed && !message.notStored;
  return (
    <article
      class={`message ${role}${highlighted ? " highlighted" : ""}`}
      data-turn={turn?.id}
      aria-label={t(role === "user" ? "chat.you" : "chat.answer")}
    >
      {!message.notStored && (
        <div class={`bubble${message.streaming ? " typing" : ""}${retired ? " is-past" : ""}`}>
          {role === "assistant" ? <Cited text={text} onTurn={onTurn} /> : saidText(text)}
        </div>
      )}
      {failed && <Failure error={new Error(t("chat.failed", { reason: failed }))} />}
      {retired && <p class="small muted">{t(`chat.${retired}`)}</p>}
      {turn && turn.checks.length > 0 && role === "assistant" && (
        <div class="callout" role="note">
          {turn.checks.map((caught, index) => (
            <p key={index}>
              {t("chat.caught", { outcome: term("outcome", caught.outcome) })} <q>{caught.words}</q> · {reasonText(caught.reason)}
            </p>
          ))}
        </div>
      )}
      {check && check.conflicts.length > 0 && (
        <div class="callout" role="alert">
          <strong>{t("chat.contradiction")}</strong>
          {check.conflicts.map((conflict, index) => (
            <p key={index}>
              <q>{conflict.sentence}</q> · {reasonText(conflict.reason)} · <ThoughtLink thought={conflict.thought} />
            </p>
          ))}
        </div>
      )}
      {constraints.length > 0 && (
        <div class="callout" role="note">
          <strong>{t("chat.constraint")}</strong>
          {constraints.map((constraint, index) => (
            <p key={index}>
              <ThoughtLink thought={constraint.thought} /> · {reasonText(constraint.reason)}
            </p>
          ))}
        </div>
      )}
      {message.learned && message.learned.length > 0 && (
        <ul class="learned" aria-label={t("chat.learned")}>
          {message.learned.map((thought) => (
            <li key={thought.id}>
              <Icon name="check" size={14} />
              <ThoughtLink thought={thought} />
            </li>
          ))}
        </ul>
      )}
      {cited.length + message.recalled.length > 0 && <Recalled recalled={message.recalled} cited={cited} turn={turn} />}
      {writable && !retired && (
        <div class="actions">
          <Button tone="quiet" onClick={onRemember}>
            {t("action.remember")}
          </Button>
          {memoriesOf(message).length > 0 && (
            <>
              <Button tone="quiet" onClick={onForget}>
                {t("chat.forgetThis")}
              </Button>
              <Button tone="quiet" onClick={onCorrect}>
                {t("chat.wrong")}
              </Button>
            </>
          )}
          {role === "assistant" && question && (
            <a class="button quiet" href={href("why", [], { q: question })}>
              {t("nav.why")}
            </a>
          )}
        </div>
      )}
    </article>
  );
}

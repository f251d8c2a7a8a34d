// Two chats, plain and streamed, by OpenAI's own client: node chat.mjs BASE_URL; prints what came as JSON.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "the-client's-own", maxRetries: 0 });

const { data, response } = await client.chat.completions
  .create({ model: "any", messages: [{ role: "user", content: "I moved to Lyon last week." }] })
  .withResponse();

const stream = await client.chat.completions.create({
  model: "any",
  messages: [{ role: "user", content: "Where did I move to?" }],
  stream: true,
});
const pieces = [];
for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta?.content ?? "");

let refused = 0;
try {
  await client.chat.completions.create({ model: "any", messages: [{ role: "user", content: "And now?" }] });
} catch (error) {
  refused = error.status;
}

console.log(
  JSON.stringify({
    plain: data.choices[0].message.content,
    turn: response.headers.get("x-thinkback-turn"),
    pieces,
    refused,
  }),
);

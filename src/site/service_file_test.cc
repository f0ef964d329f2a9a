#include "site/service_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/file.h"
#include "base/page_test.h"

namespace rota::site {
namespace {

std::string why(std::string_view text) {
  const auto read = parse_configuration(text, "rota.toml");
  return read ? std::string() : read.error().message;
}

TEST(ServiceFile, has_defaults_and_takes_every_key) {
  const auto plain = parse_configuration("processors = 4\n", "rota.toml");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->service.policy, "easy");
  EXPECT_EQ(plain->machine.processors, 4);
  const auto full = parse_configuration(
      "processors = 4\n[service]\npolicy = \"conservative\"\noperators = [\"ann\", \"ben\"]\nkill_wait = \"5s\"\n"
      "keep_history = 86400\nmax_array = 7\nmax_jobs = 9\nmax_jobs_of_user = 8\nslurm_variables = true\n"
      "listen = \"[::]:8443\"\ntls_certificate = \"/c.pem\"\ntls_key = \"/k.pem\"\n",
      "rota.toml");
  ASSERT_TRUE(full);
  const ServiceSettings& service = full->service;
  EXPECT_EQ(service.policy, "conservative");
  EXPECT_EQ(service.operators, (std::vector<std::string>{"ann", "ben"}));
  EXPECT_EQ(service.kill_wait, seconds(5));
  EXPECT_EQ(service.keep_history, seconds(86'400));
  EXPECT_EQ(service.most_array, 7);
  EXPECT_EQ(service.most_jobs, 9);
  EXPECT_EQ(service.most_jobs_of_user, 8);
  EXPECT_TRUE(service.slurm_variables);
  EXPECT_EQ(service.listen, "[::]:8443");
  EXPECT_EQ(service.tls_certificate, "/c.pem");
  EXPECT_EQ(service.tls_key, "/k.pem");
}

TEST(ServiceFile, says_what_is_wrong_and_where) {
  EXPECT_EQ(why("processors = 4\n[service]\npolcy = \"easy\"\n"),
            "rota.toml:3: [service] has no key \"polcy\"; did you mean `policy`?");
  EXPECT_EQ(why("processors = 4\n[service]\nmax_array = 0\n"),
            "rota.toml:3: `max_array` in [service] takes a whole number from 1, not 0.");
  EXPECT_EQ(why("processors = 4\n[service]\noperators = \"ann\"\n"),
            "rota.toml:3: `operators` in [service] takes a list of user names, not \"ann\".");
  EXPECT_EQ(why("processors = 4\n[service]\nlisten = \"box:1\"\ntls_key = \"/k\"\n"),
            "rota.toml: `tls_certificate` and `tls_key` in [service] go together; name both files.");
  EXPECT_EQ(why("processors = 4\n[service]\nlisten = \"box:1\"\ntls_key = \"k\"\ntls_certificate = \"c\"\n"),
            "rota.toml: `tls_certificate` and `tls_key` in [service] take absolute paths, not \"c\".");
  EXPECT_EQ(why("service = 4\nprocessors = 4\n"), "rota.toml:1: `service` is a table: write [service] on a line.");
}

TEST(ServiceFile, describes_this_host) {
  const auto read = parse_configuration(cluster_of_this_host("box", 8, 1 << 30), "here");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->machine.nodes.size(), 1U);
  EXPECT_EQ(read->machine.nodes[0].name, "box");
  EXPECT_EQ(read->machine.nodes[0].processors, 8U);
  EXPECT_EQ(read->machine.nodes[0].memory, 1 << 30);
  EXPECT_EQ(read->machine.nodes[0].accelerators, 0U);
  const auto with_some = parse_configuration(cluster_of_this_host("box", 8, 1 << 30, 2), "here");
  ASSERT_TRUE(with_some);
  EXPECT_EQ(with_some->machine.nodes[0].accelerators, 2U);
}

TEST(ServiceFile, what_it_leaves_out_of_the_cluster_is_this_computers) {
  const std::string here = cluster_of_this_host("box", 8, 1 << 30, 2), path = ::testing::TempDir() + "/partly.toml";
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    return read_configuration(path, here);
  };
  for (const std::string text : {"[service]\npolicy = \"fcfs\"", "name = \"desk\"", "licences = \"matlab:2\"\n"}) {
    const auto found = read(text);
    ASSERT_TRUE(found) << text << found.error().message;
    ASSERT_EQ(found->machine.nodes.size(), 1U);
    EXPECT_EQ(found->machine.nodes[0].processors, 8U);
    EXPECT_EQ(found->machine.nodes[0].accelerators, 2U);
    EXPECT_EQ(found->machine.name, text.starts_with("name") ? "desk" : "box");
    EXPECT_TRUE(parse_configuration(found->text, "kept"));
  }
  EXPECT_EQ(read("processors = 3\n")->machine.processors, 3U);
  EXPECT_EQ(read("[service]\npolcy = 1\n").error().message.substr(path.size(), 3), ":2:");
  EXPECT_FALSE(read_configuration(path));
  std::remove(path.c_str());
}

TEST(ServiceFile, says_what_is_wrong_with_a_federation) {
  const auto refusal = [](const std::string& keys) {
    const auto read = parse_configuration("processors = 1\n[federation]\n" + keys, "rota.toml");
    return read ? std::string() : read.error().message;
  };
  const std::string good = "name = \"lyon-1\"\nendpoints = [\"a:2379\", \"b:2379\"]\n";
  EXPECT_EQ(refusal(good), "");
  const auto read = parse_configuration("processors = 1\n[federation]\nlease = \"5s\"\n" + good, "rota.toml");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->service.federation.name, "lyon-1");
  EXPECT_EQ(read->service.federation.lease, seconds(5));
  EXPECT_EQ(read->service.federation.endpoints.size(), 2U);
  EXPECT_NE(refusal("endpoints = [\"a:1\"]").find("needs a `name`"), std::string::npos);
  EXPECT_NE(refusal("name = \"a/b\"\nendpoints = [\"a:1\"]").find("needs a `name`"), std::string::npos);
  EXPECT_NE(refusal("name = \"lyon\"").find("needs `endpoints`"), std::string::npos);
  EXPECT_NE(refusal(good + "lease = 1").find("2s at least"), std::string::npos);
  EXPECT_NE(refusal(good + "prefix = \"rota\"").find("slash"), std::string::npos);
  EXPECT_NE(refusal(good + "key = \"/k\"").find("go together"), std::string::npos);
  EXPECT_NE(refusal(good + "certificate = \"/c\"\nkey = \"/k\"").find("authority"), std::string::npos);
  EXPECT_NE(refusal(good + "nme = 1").find("[federation] has no key \"nme\"; did you mean `name`?"), std::string::npos);
}

TEST(ServiceFile, says_how_often_slurm_is_read) {
  const auto read =
      parse_configuration("processors = 1\n[slurm]\npoll = \"1m\"\nhistory = \"2026-01-01\"\n", "rota.toml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->service.slurm.poll, seconds(60));
  EXPECT_EQ(read->service.slurm.gap, seconds(1));
  EXPECT_EQ(read->service.slurm.history, "2026-01-01");
  EXPECT_EQ(read->service.slurm.report, "");
  const auto reports = parse_configuration(
      "processors = 1\n[slurm]\nreport = \"ann@example.org\"\nreport_every = \"1d\"\n", "rota.toml");
  ASSERT_TRUE(reports);
  EXPECT_EQ(reports->service.slurm.report_every, seconds(86'400));
  for (const char* bad : {"report = \"week.txt\"", "report_every = \"500ms\""})
    EXPECT_FALSE(parse_configuration(std::string("processors = 1\n[slurm]\n") + bad + "\n", "rota.toml")) << bad;
  const auto refused = parse_configuration("processors = 1\n[slurm]\nhistory = \"now; rm -r /\"\n", "rota.toml");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("a time such as now-7days"), std::string::npos);
}

TEST(ServiceFile, takes_a_cluster_that_is_described_elsewhere) {
  const std::string here =
      "# Made elsewhere.\nname = \"toy\"\nlicences = \"matlab:3\"\n\n[[nodes]]\nnames = \"n[1-2]\"\nprocessors = 4\n";
  const std::string path = testing::TempDir() + "rota-here.toml";
  std::ofstream(path) << "[service]\nmax_array = 7\n";
  const auto read = read_configuration(path, here);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->machine.name, "toy");
  EXPECT_EQ(read->machine.nodes.size(), 2U);
  EXPECT_EQ(read->machine.licences.size(), 1U);
  EXPECT_EQ(read->service.most_array, 7);
}

TEST(ServiceFile, is_in_its_page_as_it_is) {
  const auto table_of = [](const std::vector<ServiceKey>& keys) {
    std::string table = "| key | takes | without it | meaning |\n|---|---|---|---|\n";
    for (const ServiceKey& key : keys)
      table += fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.takes, key.fallback, key.meaning);
    return table;
  };
  expect_in_page("serve.md", "keys of [service]", table_of(service_keys()));
  expect_in_page("sites.md", "keys of [federation]", table_of(federation_keys()));
  expect_in_page("slurm-site.md", "keys of [slurm]", table_of(slurm_keys()));
}

}  // namespace
}  // namespace rota::site

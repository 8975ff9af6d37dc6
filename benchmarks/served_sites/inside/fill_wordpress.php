<?php
// Runs in the folder of WordPress: fill_wordpress.php HOST ARTICLES installs it, and makes a post of each article.
[, $host, $file] = $argv;
$_SERVER['HTTP_HOST'] = $host;
define('WP_INSTALLING', true);
require getcwd() . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/taxonomy.php';

function wp_mail() {} // nobody is to be told
wp_install('Manuals', 'ann', 'ann@site.example', true, '', 'not-a-secret-here');
update_option('permalink_structure', '/%year%/%monthnum%/%postname%/');
update_option('thread_comments', 1);
update_option('comment_moderation', 0);
$people = [1, wp_create_user('ben', 'not-a-secret-here', 'ben@site.example')];
$parts = [];
foreach (json_decode(file_get_contents($file), true) as $number => $one) {
    $parts[$one['category']] ??= wp_create_category($one['category']);
    $links = '';
    foreach (array_slice($one['links'], 0, 10) as $name) {
        $links .= "<li><a href=\"/?name=$name\">$name</a></li>";
    }
    $day = sprintf('2024-%02d-%02d 10:00:00', 1 + $number % 12, 1 + $number % 28);
    $post = wp_insert_post([
        'post_title' => $one['title'], 'post_name' => $one['name'], 'post_status' => 'publish', 'post_date' => $day,
        'post_content' => '<p>' . implode("</p>\n<p>", array_map('esc_html', array_slice($one['paragraphs'], 0, 12))) . "</p><ul>$links</ul>",
        'post_author' => $people[$number % 2], 'post_category' => [$parts[$one['category']]],
        'tags_input' => array_slice(explode('-', $one['name']), 0, 3),
        'post_type' => $number % 30 === 29 ? 'page' : 'post',
    ]);
    $parent = 0;
    foreach (array_slice($one['paragraphs'], -3) as $at => $text) {
        $parent = wp_insert_comment([
            'comment_post_ID' => $post, 'comment_author' => 'Cleo', 'comment_author_email' => 'cleo@site.example',
            'comment_content' => $text, 'comment_parent' => $at % 2 ? $parent : 0, 'comment_approved' => 1, 'comment_date' => $day,
        ]);
    }
}
flush_rewrite_rules();
echo "done\n";
